#!/bin/sh
# Installs Aftercast as a service of systemd with Caddy before it, on Debian:
#   install-service.sh HOST [RECORDINGS]
# HOST is the name that visitors use; Caddy requests its certificate. An address that is not public,
# such as localhost, gets a certificate of Caddy's own authority. RECORDINGS is /srv/recordings
# unless given. May be run again, for example after an upgrade.
set -eu

host=${1:?usage: install-service.sh HOST [RECORDINGS]}
recordings=${2:-/srv/recordings}
folder=$(dirname "$0")
settings=/etc/aftercast/environment
site=/etc/caddy/Caddyfile
mark='# By install-service.sh of Aftercast.'

fail() {
	echo "install-service.sh: $1" >&2
	exit 1
}

case $host in
*[!A-Za-z0-9.-]*) fail "not a host name: $host" ;;
esac
[ -d "$recordings" ] || fail "there is no folder $recordings"
recordings=$(cd "$recordings" && pwd)
[ "$(id -u)" = 0 ] || fail 'run it as root'
command -v aftercast >/dev/null || fail 'install the tarball of npm pack first: npm install --global ./aftercast-1.0.0.tgz'
command -v caddy >/dev/null || fail 'install Caddy first: apt-get install caddy'
address="AFTERCAST_PUBLIC_URL=https://$host"
if [ -e "$settings" ] && ! grep -qxF "$address" "$settings"; then
	fail "$settings is for another address: write $address there"
fi
# The file of the package and of this script may be replaced, that of an operator may not.
if [ -e "$site" ] && ! grep -qF "$mark" "$site" && ! dpkg-query --show \
	--showformat='${Conffiles}' caddy 2>/dev/null | grep -qF "$(md5sum <"$site" | cut -c 1-32)"; then
	fail "$site has sites of yours: add one for $host (docs/deploy/Caddyfile)"
fi

id aftercast >/dev/null 2>&1 ||
	useradd --system --home-dir /var/lib/aftercast --shell /usr/sbin/nologin aftercast
install -m 644 "$folder/aftercast.service" /etc/systemd/system/
mkdir -p "$(dirname "$settings")"
if [ ! -e "$settings" ]; then
	# Readable for commands of the service's user, and not for others: it may contain tokens.
	install -m 640 -g aftercast /dev/null "$settings"
	printf '%s\n' "$address" 'AFTERCAST_TRUST_PROXY=1' >"$settings"
fi
# The unit of an earlier release had these.
for line in "AFTERCAST_RECORDINGS=$recordings" AFTERCAST_DATA=/var/lib/aftercast; do
	grep -q "^${line%%=*}=" "$settings" || printf '%s\n' "$line" >>"$settings"
done
cat >"$site" <<END
$mark
$host {
	reverse_proxy 127.0.0.1:8080 {
		transport http {
			response_header_timeout 15s
			keepalive 10s
			compression off
		}
	}
}
END
systemctl daemon-reload
systemctl enable --quiet aftercast caddy
systemctl restart aftercast caddy
echo "https://$host/ serves $recordings. The log: journalctl --unit aftercast"
