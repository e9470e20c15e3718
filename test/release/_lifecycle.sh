#!/bin/sh
# Installs, starts, upgrades, rolls back, removes and purges the Debian package in a copy of this machine's root.
#   unshare -m sh _lifecycle.sh WORK OLD.deb NEW.deb DATABASE_URL PORT
# Each line of standard output is a fact, as `name value`.
set -eu
work=$1 old=$2 new=$3 database=$4 port=$5
mkdir -p "$work/upper" "$work/work" "$work/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$work/upper,workdir=$work/work" "$work/root"
for folder in proc dev dev/shm tmp; do
	mount --rbind "/$folder" "$work/root/$folder"
done
inside() { chroot "$work/root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"; }
fact() { printf '%s %s\n' "$1" "$(printf '%s' "$2" | tr '\n' ',')"; }
modes() { fact "$1" "$(cd "$work/root" && inside stat -c '%a:%U:%G' "/$2")"; }
state() { fact "$1" "$(inside dpkg-query -W -f '${db:Status-Status} ${Version}' oplink 2> /dev/null || true)"; }
pid=
# The test waits for the server's connections to its database.
trap '[ -z "$pid" ] || kill -KILL "$pid"' EXIT
serve() {
	inside oplink serve > "$work/log" 2>&1 &
	server=$!
	for _ in $(seq 300); do
		curl -fs "http://127.0.0.1:$port/health/ready" > /dev/null 2>&1 && break
		kill -0 $server 2> /dev/null || { cat "$work/log" >&2; exit 1; }
		sleep 0.2
	done
	pid=$(pgrep -f -n '/usr/lib/oplink/bin/oplink.js serve')
	fact "$1.user" "$(inside id -un "$(ps -o uid= -p "$pid" | tr -d " ")")"
	fact "$1.secrets" "$(grep -zcE '^(ADMIN_TOKEN|DATABASE_URL)=' "/proc/$pid/environ" || true)"
}
stop() {
	kill -TERM "$pid"
	wait $server || true
	pid=
}
cli() { inside oplink "$@"; }

inside dpkg -i "$old" > "$work/dpkg" 2>&1 || { cat "$work/dpkg" >&2; exit 1; }
state installed
modes env etc/oplink/oplink.env
modes credentials etc/oplink/credentials
modes token etc/oplink/credentials/ADMIN_TOKEN
modes url etc/oplink/credentials/DATABASE_URL
modes data var/lib/oplink
modes backups var/lib/oplink/backups
fact shell "$(inside getent passwd oplink | cut -d: -f7)"
fact token.length "$(($(inside cat /etc/oplink/credentials/ADMIN_TOKEN | wc -c) - 1))"
fact units "$(inside ls /etc/systemd/system/multi-user.target.wants /etc/systemd/system/timers.target.wants 2> /dev/null | grep '^oplink' | LC_ALL=C sort | tr '\n' ' ')"
fact verify "$(inside dpkg --verify oplink)"
token=$(inside cat /etc/oplink/credentials/ADMIN_TOKEN)
printf '%s\n' "$database" > "$work/root/etc/oplink/credentials/DATABASE_URL"
sed -i "s/^PORT=.*/PORT=$port\nLOG_LEVEL=warn/" "$work/root/etc/oplink/oplink.env"
serve first
cli orgs create --name Acme --plan GROWTH > /dev/null
cli app-config example | cli app-config set --file - > /dev/null
url=$(cli links create --path /hello --url-only)
fact link "$(curl -s -o /dev/null -w '%{http_code}' "$url")"
fact version "$(curl -s "http://127.0.0.1:$port/openapi.json" | grep -o '"version":"[^"]*"' | head -1)"
inside oplink backup /var/lib/oplink/backups/one.backup > /dev/null
modes backup var/lib/oplink/backups/one.backup

# A link of the service's user must not lead root to another folder.
inside runuser -u oplink -- sh -c 'cd /var/lib/oplink && mv backups kept && ln -s /srv backups'
inside dpkg -i --force-confold "$new" > "$work/dpkg" 2>&1 || { cat "$work/dpkg" >&2; exit 1; }
modes linked srv
inside runuser -u oplink -- sh -c 'cd /var/lib/oplink && rm backups && mv kept backups'
stop
state upgraded
serve second
fact upgraded.link "$(curl -s -o /dev/null -w '%{http_code}' "$url")"
fact upgraded.version "$(curl -s "http://127.0.0.1:$port/openapi.json" | grep -o '"version":"[^"]*"' | head -1)"
fact upgraded.env "$(grep -c "^PORT=$port" "$work/root/etc/oplink/oplink.env")"
fact upgraded.token "$([ "$token" = "$(inside cat /etc/oplink/credentials/ADMIN_TOKEN)" ] && echo same)"
stop

inside dpkg -i --force-confold "$old" > "$work/dpkg" 2>&1
state back
serve third
fact back.link "$(curl -s -o /dev/null -w '%{http_code}' "$url")"
stop

inside dpkg -r oplink > "$work/dpkg" 2>&1
state removed
fact removed.program "$([ -e "$work/root/usr/lib/oplink" ] || echo gone)"
fact removed.env "$([ -e "$work/root/etc/oplink/oplink.env" ] && echo kept)"
inside dpkg -P oplink > "$work/dpkg" 2>&1
state purged
fact purged.etc "$([ -e "$work/root/etc/oplink" ] || echo gone)"
fact purged.data "$([ -e "$work/root/var/lib/oplink/backups/one.backup" ] && echo kept)"
fact purged.user "$(inside getent passwd oplink | cut -d: -f1)"
fact purged.units "$(inside find /etc/systemd /var/lib/systemd -name '*oplink*' | tr '\n' ' ')"
