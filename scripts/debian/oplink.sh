#!/bin/sh
# The CLI. As root and as the user of the server it has the environment of the server; others log in with oplink login.
program=/usr/lib/oplink/bin/oplink.js
case $(id -un) in
	root) as="runuser -u oplink --" ;;
	oplink) as= ;;
	*) exec /usr/bin/node $program "$@" ;;
esac
# shellcheck disable=SC2086 # words of a command
exec $as env NODE_ENV=production DATA_DIR=/var/lib/oplink \
	CREDENTIALS_DIRECTORY="${CREDENTIALS_DIRECTORY:-/etc/oplink/credentials}" \
	/usr/bin/node --env-file=/etc/oplink/oplink.env $program "$@"
