import type {Client} from 'pg';
import {type Installation, pathOf} from './installation.ts';
import {ADDRESSES, ANDROID, addressOf, CRAWLER, IPHONE} from './requests.ts';

/** The custom domain of the first organization. */
export const OWN_DOMAIN = 'go.bench.example';

/** A kind of visit. `clicks`: each is a click of a person. */
export type Kind = {
	method?: 'GET' | 'HEAD' | 'POST';
	path: (n: number) => string;
	host?: string;
	agent?: string;
	body?: string;
	status?: number;
	clicks?: boolean;
	/** Most CPU of the server, as a multiple of another kind's. */
	bar?: {most: number; of: string};
};

/** The n-th request of a kind. @param more further header lines. */
export const requestOf =
	({method = 'GET', path, host, agent, body = ''}: Kind) =>
	(url: URL) =>
	(n: number, more = ''): string =>
		`${method} ${path(n)} HTTP/1.1\r\nHost: ${host ?? url.host}\r\nX-Forwarded-For: ${addressOf(n % ADDRESSES)}\r\n` +
		`User-Agent: ${agent ?? (n % 2 === 0 ? IPHONE : ANDROID)}\r\nAccept: text/html,application/xhtml+xml\r\n` +
		`Accept-Language: en-US,en;q=0.9\r\n${more}${method === 'POST' ? `Content-Type: text/plain\r\nContent-Length: ${body.length}\r\n` : ''}\r\n${body}`;

const clickId = (n: number): string => `utm_source=x&gclid=EAIaIQobChMI${n.toString(36).padStart(8, '0')}`;

/** The kinds of visits of the mix, over so many links. */
export const mixedKinds = (installation: Installation, links: number) => {
	const shared = (n: number) => pathOf(installation, 1 + (n % links));
	const bare = (n: number) => `/c${1 + (n % links)}`;
	return {
		plain: {path: shared},
		withClickId: {path: (n) => `${shared(n)}?${clickId(n)}`},
		own: {path: bare, host: OWN_DOMAIN},
		ownWithClickId: {path: (n) => `${bare(n)}?fbclid=IwAR${n.toString(36).padStart(8, '0')}`, host: OWN_DOMAIN},
		crawler: {path: shared, agent: CRAWLER, clicks: false},
		unknown: {path: (n) => `${shared(n)}-none`, status: 404, clicks: false},
	} satisfies Record<string, Kind>;
};

/** The kind of the n-th visit: 40 % on an own domain, 50 % with click ids, 5 % unknown codes, 5 % crawlers. */
export const mixOf = (installation: Installation, links: number): ((n: number) => Kind) => {
	const {plain, withClickId, own, ownWithClickId, crawler, unknown} = mixedKinds(installation, links);
	return (n) => {
		const place = n % 20;
		if (place === 7 || place === 17) {
			return place === 7 ? unknown : crawler;
		}

		const hasClickId = place % 2 === 1;
		return place % 5 < 2 ? (hasClickId ? ownWithClickId : own) : hasClickId ? withClickId : plain;
	};
};

/** Gives an organization its custom domain. */
export const addOwnDomain = async (client: Client, {id}: {id: string}): Promise<void> => {
	await client.query(
		`INSERT INTO domains (id, organization_id, hostname, status, verification_token, created_at, updated_at)
		VALUES (gen_random_uuid(), $1, $2, 'VERIFIED', 'bench', now(), now())`,
		[id, OWN_DOMAIN],
	);
};
