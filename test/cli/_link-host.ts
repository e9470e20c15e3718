import {readFileSync} from 'node:fs';
import {createServer, type RequestListener} from 'node:http';
import {createServer as createSecureServer} from 'node:https';
import type {AddressInfo} from 'node:net';
import path from 'node:path';
import type {ExecutionContext} from 'ava';
import {packageRoot} from '../../src/platform/package-root.ts';

const file = (name: string): string => path.join(packageRoot, 'test/fixtures/tls', `${name}.pem`);

/** The authority of the certificates below; Node trusts it if NODE_EXTRA_CA_CERTS names this file. */
export const authorityFile = file('authority');

/** A certificate for `localhost` until 2120, or one that expired in 2020. */
export type Certificate = 'localhost' | 'expired';

export const appleFile = (...apps: string[]): string =>
	JSON.stringify({applinks: {details: apps.map((app) => ({appIDs: [app], components: [{'/': '/*'}]}))}});
export const androidFile = (name: string, ...fingerprints: string[]): string =>
	JSON.stringify([{target: {namespace: 'android_app', package_name: name, sha256_cert_fingerprints: fingerprints}}]);

type Answer = {status?: number; headers?: Record<string, string>; body?: string};

/** A host's answers for the two files: text as JSON with 200, or a full answer. */
export type Files = {apple: string | Answer; android: string | Answer};

const answering =
	({apple, android}: Files): RequestListener =>
	({url}, response) => {
		const given = url === '/.well-known/assetlinks.json' ? android : apple;
		const {status = 200, headers, body}: Answer = typeof given === 'string' ? {body: given} : given;
		response.writeHead(status, {'content-type': 'application/json; charset=utf-8', ...headers});
		response.end(body);
	};

/** A link host with both files, over https if a certificate is named. @returns its port. */
export const startLinkHost = async (t: ExecutionContext, files: Files, certificate?: Certificate): Promise<number> => {
	const server =
		certificate === undefined
			? createServer(answering(files))
			: createSecureServer({key: readFileSync(file('key')), cert: readFileSync(file(certificate))}, answering(files));
	await new Promise<void>((resolve) => {
		server.listen(0, '127.0.0.1', resolve);
	});
	t.teardown(() => {
		server.closeAllConnections();
		server.close();
	});
	return (server.address() as AddressInfo).port;
};
