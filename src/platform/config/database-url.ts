import {X509Certificate} from 'node:crypto';
import {readFileSync} from 'node:fs';
import {decodedText} from '../query.ts';

/** Values of `sslmode`. All but the first and the last verify certificate and name. */
const MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

/** Values that the driver accepts for `ssl`; others fail once connected. */
const SSL = ['true', '1', '0', 'no-verify'];

const FILES = ['sslrootcert', 'sslcert', 'sslkey'];

/** The CAs of Node and of NODE_EXTRA_CA_CERTS; libpq's name for the system's. */
const SYSTEM = 'system';

const fileFault = (name: string, file: string): string | null => {
	try {
		const text = readFileSync(file, 'utf8');
		if (name !== 'sslkey') {
			new X509Certificate(text);
		}

		return null;
	} catch (error) {
		return `has a ${name} that cannot be read: ${(error as Error).message}`;
	}
};

/** The fault of a connection URL, without its secret parts; null if it is valid. */
export const databaseUrlFault = (text: string): string | null => {
	const {username, password, hostname, pathname, port, searchParams} = new URL(text);
	if ([username, password, hostname, pathname].some((part) => decodedText(part) === null)) {
		return 'has a % that encodes no character: write it as %25';
	}

	const [ssl, mode] = ['ssl', 'sslmode'].map((name) => searchParams.get(name));
	if (ssl != null && !SSL.includes(ssl)) {
		return `has ssl=${ssl}, which is not supported: write ${MODES.includes(ssl) ? `sslmode=${ssl}` : 'sslmode=disable or sslmode=verify-full'}`;
	}

	if (mode != null && !MODES.includes(mode)) {
		return `has sslmode=${mode}: it must be one of ${MODES.join(', ')}`;
	}

	const given = searchParams.get('port') ?? port;
	if (given !== '' && !(/^\d{1,5}$/.test(given) && Number(given) > 0 && Number(given) <= 65_535)) {
		return 'has an invalid port: it must be a number from 1 to 65535';
	}

	for (const name of FILES) {
		const file = searchParams.get(name);
		const fault = file === null || (name === 'sslrootcert' && file === SYSTEM) ? null : fileFault(name, file);
		if (fault !== null) {
			return fault;
		}
	}

	return null;
};

/**
 * The URL for the driver: all verifying modes become verify-full, because the driver warns that the others will change.
 */
export const driverUrl = (text: string): string => {
	const url = new URL(text);
	const {searchParams} = url;
	const mode = searchParams.get('sslmode');
	if (searchParams.get('sslrootcert') === SYSTEM) {
		searchParams.delete('sslrootcert');
		searchParams.set('sslmode', 'verify-full');
	} else if (mode !== null && mode !== 'disable' && mode !== 'no-verify') {
		searchParams.set('sslmode', 'verify-full');
	} else {
		return text;
	}

	return url.href;
};

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
