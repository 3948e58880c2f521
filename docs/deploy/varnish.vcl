# Varnish 7 with vmod xkey (package varnish-modules) as the cache of one or more Aftercast servers.
# Configure Aftercast with AFTERCAST_PURGE_URLS=http://<this host>:<port>/ and
# AFTERCAST_TRUST_PROXY=1. TLS ends before Varnish.
vcl 4.1;

import xkey;

backend default {
    .host = "127.0.0.1";
    .port = "8080";
    # Aftercast responds to the first byte of a segment within 8 s, or with 503.
    .first_byte_timeout = 15s;
    .between_bytes_timeout = 15s;
    .probe = {
        .url = "/readyz";
        .interval = 2s;
        .timeout = 2s;
    }
}

# Who may purge: the Aftercast servers.
acl purgers {
    "localhost";
    "127.0.0.1";
    "::1";
}

sub vcl_recv {
    if (req.method == "PURGE") {
        # Varnish appends the client's address: with a comma, a proxy forwarded a visitor's request.
        if (client.ip !~ purgers || req.http.X-Forwarded-For ~ ",") {
            return (synth(405));
        }
        if (req.http.Surrogate-Key) {
            set req.http.X-Purged = xkey.purge(req.http.Surrogate-Key);
        }
        return (synth(200, "Purged " + req.http.X-Purged));
    }
    # The audio of whole sessions is read in ranges, and would replace what many visitors watch.
    if (req.url ~ "^(/[\w.~-]+)*?/api/audio/") {
        return (pass);
    }
    # No response depends on cookies, so they must not prevent caching.
    unset req.http.Cookie;
    # Media and images do not depend on a query, and would be stored again for each. A playlist
    # depends on the audio in it, and on its quality.
    if (req.url ~ "^(/[\w.~-]+)*?/api/(video|thumbnail)" &&
        req.url !~ "\.m3u8\?(audio|quality)=[\w.-]+(&(audio|quality)=[\w.-]+)?$") {
        set req.url = regsub(req.url, "\?.*$", "");
    }
    # Of AVIF, WebP and JPEG, browsers accept only few combinations; see the next function.
    if (req.url ~ "^(/[\w.~-]+)*?/api/thumbnail") {
        call short_accept;
    } else {
        unset req.http.Accept;
    }
}

# Thumbnails vary by Accept: one cached image for each format, not for each browser.
sub short_accept {
    if (req.http.Accept ~ "image/avif") {
        set req.http.Accept = "image/avif,image/webp";
    } else if (req.http.Accept ~ "image/webp") {
        set req.http.Accept = "image/webp";
    } else {
        unset req.http.Accept;
    }
}

sub vcl_backend_response {
    set beresp.http.xkey = beresp.http.Surrogate-Key;
    # Nothing is served after it has expired: playlists would be stale.
    set beresp.grace = 0s;
    if (beresp.status >= 400) {
        # Uncacheable, and the next request does not wait for it.
        set beresp.uncacheable = true;
        set beresp.ttl = 1s;
        return (deliver);
    }
}

sub vcl_deliver {
    unset resp.http.xkey;
}
