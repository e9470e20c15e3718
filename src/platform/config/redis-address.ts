import {decodedText} from '../query.ts';

/** One Redis, one found through Sentinels, or a Cluster. */
export type RedisAddress = {
	kind: 'one' | 'sentinel' | 'cluster';
	nodes: ReadonlyArray<{host: string; port: number}>;
	username: string | null;
	password: string | null;
	isTls: boolean;
	/** The number of the database; a Cluster has only 0. */
	database: number;
	/** The name under which Sentinels know it. */
	name: string | null;
	/** Of the Sentinels. */
	sentinelPassword: string | null;
};

const FORMS =
	'must be redis://HOST:6379, redis-sentinel://HOST:26379,HOST2:26379/NAME, or for a Cluster redis://HOST:6379,HOST2:6379; rediss:// and rediss-sentinel:// with TLS';

const SHAPE = /^(rediss?)(-sentinel)?:\/\/(?:([^@]*)@)?([^@/?]*)(?:\/([^?]*))?(?:\?(.*))?$/;
const NODE = /^(\[[0-9a-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?$/i;

const nodesOf = (text: string, standardPort: number): RedisAddress['nodes'] | null => {
	const nodes = text.split(',').map((node) => {
		const [, host, port = String(standardPort)] = NODE.exec(node) ?? [];
		const isPort = Number(port) >= 1 && Number(port) <= 65_535;
		return host === undefined || !isPort ? null : {host: host.replace(/^\[|\]$/g, ''), port: Number(port)};
	});
	return nodes.every((node) => node !== null) ? nodes : null;
};

/** The parts of a REDIS_URL. @returns the expected form, as the end of a sentence, if it is invalid. */
export const readRedisAddress = (url: string): RedisAddress | string => {
	const [, scheme, sentinel, credentials, hosts = '', path = '', rest = ''] = SHAPE.exec(url) ?? [];
	const nodes = nodesOf(hosts, sentinel === undefined ? 6379 : 26_379);
	if (scheme === undefined || nodes === null) {
		return FORMS;
	}

	const [, user = '', secret = null] = /^([^:]*)(?::(.*))?$/s.exec(credentials ?? '') ?? [];
	const parameters = new URLSearchParams(rest);
	const [username, password] = [decodedText(user), decodedText(secret ?? '')];
	if (username === null || password === null) {
		return 'has a % that encodes no character: write it as %25';
	}

	const segments = path.replace(/\/$/, '').split('/');
	const name = sentinel === undefined ? null : (decodedText(segments.shift() ?? '') ?? '');
	const [number = '', ...more] = segments;
	if (name === '') {
		return 'must name what the Sentinels watch: redis-sentinel://HOST:26379,HOST2:26379/NAME';
	}

	const kind = sentinel === undefined ? (nodes.length > 1 ? 'cluster' : 'one') : 'sentinel';
	if (more.length > 0 || !/^\d{0,5}$/.test(number)) {
		return 'has a path that is not the number of a database';
	}

	if (kind === 'cluster' && Number(number) !== 0) {
		return 'names several nodes, which is a Cluster, and a Cluster has only the database 0';
	}

	return {
		kind,
		nodes,
		username: username || null,
		password: password || null,
		isTls: scheme === 'rediss',
		database: Number(number),
		name,
		sentinelPassword: parameters.get('sentinelPassword'),
	};
};
