/** The parts of CLICKS_URL. */
export type ClickHouseAddress = {origin: string; user: string; password: string; database: string};

const DATABASE = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

/** Why a text is not a valid CLICKS_URL; null if it is valid. */
export const clickHouseUrlFault = (text: string): string | null => {
	const {pathname, hostname, searchParams, hash} = new URL(text);
	if (hostname === '') {
		return 'must name a host';
	}

	const isKnown = [...searchParams].every(([name, value]) => name === 'secure' && /^[01]$/.test(value));
	return hash === '' && isKnown && (/^\/?$/.test(pathname) || DATABASE.test(pathname.slice(1)))
		? null
		: 'must be like clickhouse://user:password@host:8123/database, with ?secure=1 for TLS';
};

/** Reads a CLICKS_URL without fault. */
export const readClickHouseUrl = (text: string): ClickHouseAddress => {
	const url = new URL(text);
	const isSecure = url.protocol === 'clickhouses:' || url.searchParams.get('secure') === '1';
	return {
		origin: `${isSecure ? 'https' : 'http'}://${url.hostname}:${url.port || (isSecure ? 8443 : 8123)}`,
		user: decodeURIComponent(url.username) || 'default',
		password: decodeURIComponent(url.password),
		database: url.pathname.slice(1) || 'default',
	};
};
