import {readFile} from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import {Oplink, OplinkApiError, OplinkConnectionError, type OplinkFetch} from '../../src/client/oplink.ts';
import {packageRoot, packageVersion} from '../../src/platform/package-root.ts';
import {type Done, faultOf, type Reply, type Vector, vectors} from './_vectors.ts';

const LINK_FIELDS = ['linkId', 'path', 'params', 'matchMethod', 'matchConfidence'];

/** The fields of a link that the cases compare; null for a miss. */
const linkOf = (answer: object | null): unknown => {
	if (answer === null || ('matched' in answer && answer.matched === false)) {
		return null;
	}

	return Object.fromEntries(
		Object.entries(answer).flatMap(([name, value]) => (LINK_FIELDS.includes(name) ? [[name, value]] : [])),
	);
};

const errorOf = (error: unknown): Record<string, unknown> => {
	if (error instanceof OplinkApiError) {
		const {status, message, requestId, retryAfterSeconds, details, code} = error;
		return {kind: 'api', status, message, requestId, retryAfterSeconds, details, code};
	}

	return {kind: error instanceof OplinkConnectionError ? 'connection' : 'other', message: String(error)};
};

const session: Reply = {status: 200, body: {deviceId: 'device-0001', sessionId: 'x', isNewDevice: true}};

/** Runs a case with the client of JavaScript. Only `start` takes whole texts of a clipboard, so it asks for such a match. */
const run = async ({options, call, args, replies: given}: Vector): Promise<Done> => {
	const hasTexts = call === 'match' && (args.device.clipboardToken ?? args.device.installReferrer) !== undefined;
	const replies = hasTexts ? [session, ...given] : [...given];
	const done: Done = {
		requests: [],
		sleeps: [],
		result: undefined,
		error: null,
		updates: [],
		links: [],
		stored: args.stored ?? null,
		logged: false,
	};
	const fetch: OplinkFetch = async (url, {method, headers, body}) => {
		done.requests.push({method, url, headers, body: body === undefined ? null : JSON.parse(body)});
		const reply = replies.shift();
		if (reply === undefined || reply.fail !== undefined) {
			throw new TypeError(reply === undefined ? 'one request too many' : 'fetch failed');
		}

		const {status = 200, text, body: json, requestId = null} = reply;
		return {
			status,
			headers: {get: (name) => (name === 'x-request-id' ? requestId : null)},
			text: async () => text ?? JSON.stringify(json),
		};
	};
	const set = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== null));
	const oplink = new Oplink({
		...(set as {baseUrl: string}),
		fetch,
		sleep: async (seconds) => void done.sleeps.push(seconds),
		storage: {
			get: () => done.stored,
			set: (_, value) => {
				done.stored = value;
			},
		},
		log: () => {
			done.logged = true;
		},
	});
	oplink.onUpdateRequired(({minimumVersion}) => void done.updates.push(String(minimumVersion)));
	oplink.onLink((link, match) => void done.links.push(linkOf({...match, ...link})));
	const {device, deviceId, link, ...rest} = args;
	const ok = async (work: Promise<unknown>) => ({ok: (await work) !== null});
	const calls: Record<string, () => Promise<unknown>> = {
		session: () => ok(oplink.session(device)),
		start: () => oplink.start(device),
		match: async () => {
			if (!hasTexts) {
				const {appVersion: _, ...signals} = device;
				return linkOf(await oplink.match(signals));
			}

			await oplink.start(device);
			done.requests.shift();
			return done.links[0] ?? null;
		},
		identify: () => ok(oplink.identify(deviceId, rest.externalUserId, rest.traits)),
		clearIdentity: () => ok(oplink.clearIdentity(deviceId)),
		track: () => ok(oplink.track(deviceId, rest.eventName, rest.properties, rest)),
		resolve: async () => linkOf(await oplink.resolve(rest.orgKey, rest.shortCode, {deviceId})),
		resolveUrl: async () => linkOf(await oplink.resolveUrl(rest.url, {deviceId})),
		createLink: () => oplink.createLink({deviceId, ...rest}, {link}),
		update: async () => {
			await oplink.session(device);
			return linkOf(await oplink.resolve(rest.orgKey, rest.shortCode));
		},
	};
	try {
		done.result = await calls[call]?.();
	} catch (error) {
		done.error = errorOf(error);
	}

	return done;
};

test('the client of JavaScript passes every case of sdk-vectors.json', async (t) => {
	t.true(vectors.length >= 150);
	const faults: string[] = [];
	for (const vector of vectors) {
		const fault = faultOf(vector, await run(vector), 'js');
		if (fault !== null) {
			faults.push(`${vector.name}: ${fault}`);
		}
	}

	t.deepEqual(faults, []);
});

test('the cases cover every call, and each fails for a client that does nothing', (t) => {
	t.deepEqual([...new Set(vectors.map(({call}) => call))].toSorted(), [
		'clearIdentity',
		'createLink',
		'identify',
		'match',
		'resolve',
		'resolveUrl',
		'session',
		'start',
		'track',
		'update',
	]);
	const idle: Done = {
		requests: [],
		sleeps: [],
		result: undefined,
		error: null,
		updates: [],
		links: [],
		stored: null,
		logged: false,
	};
	for (const vector of vectors) {
		t.not(faultOf(vector, idle, 'js'), null, vector.name);
	}
});

test('the versions that the clients send are that of the package', async (t) => {
	const files = [
		'src/client/version.ts',
		'docs/sdk/Oplink.kt',
		'docs/sdk/Oplink.swift',
		'docs/sdk/Oplink.cs',
		'docs/sdk/oplink.dart',
	];
	for (const file of files) {
		const text = await readFile(path.join(packageRoot, file), 'utf8');
		const found = /(?:SDK_VERSION|sdkVersion|SdkVersion) = ['"](?:oplink-\w+\/)?([\d.]+)['"]/.exec(text)?.[1];
		t.is(found, packageVersion(), file);
	}
});
