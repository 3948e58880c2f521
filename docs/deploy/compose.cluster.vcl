# varnish.vcl with varnish-nodes.vcl, for the services of compose.cluster.yaml. A test compares them.
vcl 4.1;

import xkey;

# All requests of a session go to one node, whose caches then have its index and its bytes. If that
# node is down, or does not know the URL yet because it is being upgraded, the next one is tried.
import directors;

probe ready {
    .url = "/readyz";
    .interval = 2s;
    .timeout = 2s;
}

backend node1 {
    .host = "node1";
    .port = "8080";
    .probe = ready;
    # Aftercast responds to the first byte of a segment within 8 s, or with 503.
    .first_byte_timeout = 15s;
    .between_bytes_timeout = 15s;
}

backend node2 {
    .host = "node2";
    .port = "8080";
    .probe = ready;
    .first_byte_timeout = 15s;
    .between_bytes_timeout = 15s;
}

sub vcl_init {
    new nodes = directors.shard();
    nodes.add_backend(node1);
    nodes.add_backend(node2);
    nodes.reconfigure();
}

sub vcl_backend_fetch {
    set bereq.backend = nodes.backend(by=KEY, alt=bereq.retries, key=nodes.key(
        regsub(bereq.url, "^(/[\w.~-]+)*?/api/(video|thumbnail|audio)/([^/]+/[^/]+/[^/]+)(/.*)?$", "\3")));
}

sub vcl_backend_response {
    if (bereq.retries == 0 && bereq.url ~ "^(/[\w.~-]+)*?/api/video/") {
        if (beresp.status == 404 || beresp.status == 503) {
            return (retry);
        }
    }
}

sub vcl_backend_error {
    if (bereq.retries == 0) {
        return (retry);
    }
}

# Who may purge: the Aftercast servers.
acl purgers {
    "node1";
    "node2";
    "worker";
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
