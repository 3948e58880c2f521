# For several nodes: put this in the place of `backend default` in varnish.vcl.
#
# All requests of a session go to one node, whose caches then have its index and its bytes. If that
# node is down, or does not know the URL yet because it is being upgraded, the next one is tried.
import directors;

probe ready {
    .url = "/readyz";
    .interval = 2s;
    .timeout = 2s;
}

backend node1 {
    .host = "127.0.0.1";
    .port = "8081";
    .probe = ready;
    # Aftercast responds to the first byte of a segment within 8 s, or with 503.
    .first_byte_timeout = 15s;
    .between_bytes_timeout = 15s;
}

backend node2 {
    .host = "127.0.0.1";
    .port = "8082";
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
