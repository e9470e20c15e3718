import {once} from 'node:events';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {exportJWK, generateKeyPair, type JWTPayload, SignJWT} from 'jose';

/** What `use` makes of a file of operators' providers. */
export const withFile = async <T>(providers: unknown, use: (file: string) => T): Promise<Awaited<T>> => {
	const folder = await mkdtemp(path.join(tmpdir(), 'oplink-oidc-'));
	const file = path.join(folder, 'operators.json');
	await writeFile(file, JSON.stringify(providers));
	try {
		return await use(file);
	} finally {
		await rm(folder, {recursive: true});
	}
};

/** A provider of OpenID Connect: discovery, a key set, and tokens of any claims. */
export const startProvider = async ({now}: {now(): Date}) => {
	type Key = {kid: string; alg: string; privateKey: CryptoKey; jwk: object};
	const keys: Key[] = [];
	let isAway = false;
	let asked = 0;
	const addKey = async (alg: string): Promise<Key> => {
		const {privateKey, publicKey} = await generateKeyPair(alg);
		const kid = `key-${keys.length}-${crypto.randomUUID()}`;
		const key = {kid, alg, privateKey, jwk: {...(await exportJWK(publicKey)), kid, alg, use: 'sig'}};
		keys.unshift(key);
		return key;
	};
	const server = createServer((request, response) => {
		asked += 1;
		if (isAway) {
			response.writeHead(503).end('<html>away</html>');
			return;
		}

		const body = request.url?.endsWith('/keys')
			? {keys: keys.map(({jwk}) => jwk)}
			: {issuer, jwks_uri: `${issuer}/keys`};
		response.writeHead(200, {'Content-Type': 'application/json'}).end(JSON.stringify(body));
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	const first = await addKey('RS256');
	return {
		issuer,
		addKey,
		keys,
		asked: () => asked,
		away: (is = true) => {
			isAway = is;
		},
		token: (claims: JWTPayload, key = keys[0] ?? first): Promise<string> => {
			const seconds = Math.floor(now().getTime() / 1000);
			return new SignJWT({iss: issuer, aud: 'oplink', sub: 'subject', iat: seconds, exp: seconds + 300, ...claims})
				.setProtectedHeader({alg: key.alg, kid: key.kid})
				.sign(key.privateKey);
		},
		stop: () => {
			server.closeAllConnections();
			server.close();
		},
	};
};
