# Limits of downloads from Varnish, beside varnish.vcl: copy it to /etc/varnish/, and write
# `include "/etc/varnish/varnish-egress.vcl";` after `vcl 4.1;` there. Aftercast's own budgets see
# only what Varnish does not have: of these, set AFTERCAST_LIMITS_BYTES_PER_SECOND.
#
# Varnish does not limit bytes: a client gets 200 files of media within 10 s, and then 20 per
# second. A player at twice the speed requests one or two. More are 503, which players repeat.
import vsthrottle;

sub vcl_recv {
    if (req.url ~ "^(/[\w.~-]+)*?/api/(video/[^?]*\.(ts|m4s|mp4)|audio/)") {
        # The visitor, as the proxy before Varnish names him: an IPv4 address, or the first four
        # groups of an IPv6 address.
        set req.http.X-Network = regsub(req.http.X-Forwarded-For, ",.*$", "");
        set req.http.X-Network = regsub(req.http.X-Network, "^(([0-9A-Fa-f]*:){4}).*$", "\1");
        if (vsthrottle.is_denied("media " + req.http.X-Network, 200, 10s)) {
            return (synth(503));
        }
        unset req.http.X-Network;
    }
}

sub vcl_synth {
    if (resp.status == 503) {
        set resp.http.Retry-After = "1";
        set resp.http.Cache-Control = "no-store";
        synthetic("");
        return (deliver);
    }
}
