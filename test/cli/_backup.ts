import {writeFile} from 'node:fs/promises';
import path from 'node:path';
import {Readable} from 'node:stream';
import type {ExecutionContext, TestFn} from 'ava';
import {closeDb, createDb} from '../../src/platform/db/db.ts';
import {exampleAppConfig, organization, type TestOrganization} from '../helpers/builders.ts';
import {createTestDatabase} from '../helpers/database.ts';
import {folderOf} from '../helpers/folder.ts';
import {createFakeClock, startService, type TestService} from '../helpers/service.ts';
import {startedFor, startedIn} from '../helpers/started.ts';
import {clicked, iPhoneApp, network, open, visit} from '../visits/matches/_phones.ts';
import {runCli} from './_run-cli.ts';

export const keyed = {'Idempotency-Key': 'once'};
export const keyedBody = {path: '/once', title: 'ünï "quoted"\n\\ 漢', params: {b: '1', a: '2'}};

/** An installation with something of everything, made through HTTP. */
const fill = async (service: TestService): Promise<TestOrganization> => {
	const appConfig = {...exampleAppConfig, browserPaths: ["/a,'b'/*", '/(x)?']};
	const acme = await organization(service, {plan: 'SCALE', appConfig});
	const {body: domain} = await acme.operator.post('/domains', {hostname: 'go.acme.example'});
	await acme.operator.patch(`/domains/${domain.id}`, {
		pathPrefixes: ['promos', 'links/share'],
		rootUrl: 'https://www.acme.example/',
		unknownCodes: {url: 'https://old.example.link/{code}'},
	});
	await acme.operator.post('/templates', {name: 'sale', path: '/sale'});
	const {link: sale, token} = await clicked(service, acme, network()(1), {path: '/item/7', tags: ['a', 'b,"c"']});
	const deviceId = 'device-0001';
	await open(service, network()(1), {...iPhoneApp, clipboardToken: token, deviceId}, acme);
	await acme.client.post('/sdk/identity', {deviceId, externalUserId: 'ada', traits: {n: 1.5}});
	await acme.client.post('/sdk/events', {deviceId, eventName: 'buy', properties: {z: 1, a: 2}});
	// A click of another month is in another partition.
	service.clock.advance(5 * 3600);
	await visit(service, sale, network()(2), {query: '?ref=42&note=%22%5C%22'});
	await acme.server.post('/links', keyedBody, keyed);
	return acme;
};

/** For a file's tests: an installation, its organization, and a backup of it. */
export const backedUp = (test: TestFn) =>
	startedFor(test, async () => {
		const service = await startService({}, createFakeClock(new Date('2026-03-31T20:00:00.000Z')));
		const acme = await fill(service);
		const made = await runCli(['backup', '-'], {env: {DATABASE_URL: service.databaseUrl}});
		if (made.exitCode !== 0) {
			throw new Error(made.stderr);
		}

		return {service, acme, backup: made.stdoutBytes, stop: service.stop};
	});

/** A database to restore into, empty and migrated, or without any table; and the restore of bytes on standard input. */
export const startTarget = async (template?: 'template0') => {
	const database = await createTestDatabase(template);
	const db = createDb(database.url, {poolSize: 2});
	const env = {DATABASE_URL: database.url};
	return {
		database,
		db,
		env,
		restore: (bytes: Buffer, ...more: string[]) =>
			runCli(['restore', '-', ...more], {env, stdin: Readable.from([bytes])}),
		stop: async () => {
			await closeDb(db);
			await database.drop();
		},
	};
};

/** A target of a test's own, and a file with a backup. */
export const setUpRestore = async (t: ExecutionContext, backup: Buffer, template?: 'template0') => {
	const folder = await folderOf(t);
	const file = path.join(folder, 'oplink.backup');
	await writeFile(file, backup);
	const target = await startedIn(t, startTarget(template));
	return {...target, folder, file};
};
