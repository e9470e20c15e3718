import {randomBytes} from 'node:crypto';
import {mkdir, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {Client} from 'pg';
import {pino} from 'pino';
import {closeDb, createDb} from '../../src/platform/db/db.ts';
import {migrateUp} from '../../src/platform/db/migrate.ts';
import {startEmbeddedPostgres} from '../../src/platform/embedded/postgres.ts';
import {compileProgram} from './compile.ts';
import {findProgram} from './find-program.ts';
import {prepareRedis} from './redis.ts';
import {makeRunFolder} from './run-folder.ts';
import type {Teardown} from './teardown.ts';

/** Of the unpacked fonts alone, so that a page is laid out alike wherever Chromium was downloaded. */
const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig><dir prefix="relative">usr/share/fonts</dir></fontconfig>
`;

/**
 * The path of a Chromium that runs without a screen.
 * Throws, with what to do, where there is none: tests of the pages that people see are never passed over.
 */
const findChromium = async (): Promise<string> => {
	const found = await findProgram({
		name: 'chromium',
		variable: 'TEST_CHROMIUM',
		names: ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
		// Latin, Cyrillic and Arabic letters come with the one font, Chinese, Japanese and Korean with the other.
		packages: ['chromium-headless-shell', 'chromium-common', 'fonts-dejavu-core', 'fonts-wqy-microhei'],
		binary: 'usr/lib/chromium/chromium-headless-shell',
		files: {'fonts.conf': FONTS},
		variables: {FONTCONFIG_FILE: '$root/fonts.conf'},
	});
	if ('command' in found) {
		return found.command;
	}

	throw new Error(
		[
			`The tests need a Chromium, and none could be had (${found.reason}). Provide one in one of three ways:`,
			'  1. set TEST_CHROMIUM to the path of a Chromium, a Chrome or their headless shell;',
			'  2. install chromium or google-chrome, so that it is on PATH;',
			'  3. on Debian, let apt-get reach its mirrors: the tests download the package by themselves.',
		].join('\n'),
	);
};

/** Nothing of a test outlives the run, so nothing has to reach the disk. */
const SETTINGS = {
	fsync: 'off',
	synchronous_commit: 'off',
	full_page_writes: 'off',
	// A test's database is gone before a statistic of it could serve anybody.
	autovacuum: 'off',
	max_wal_size: '128MB',
	wal_level: 'minimal',
	max_wal_senders: '0',
	// The kernel copies the template's files by itself.
	file_copy_method: 'clone',
	max_connections: '600',
};

/** The address of a PostgreSQL for this run: TEST_DATABASE_URL if set, else a new one. */
const findServer = async (folder: string, teardown: Teardown): Promise<string> => {
	const given = process.env['TEST_DATABASE_URL'];
	if (given) {
		return given;
	}

	// A password would cost 2.4 ms of CPU at each of thousands of connections.
	const hbaFile = path.join(folder, 'pg_hba.conf');
	await writeFile(hbaFile, 'local all all trust\nhost all all 127.0.0.1/32 trust\n');
	const server = await startEmbeddedPostgres({
		dataDir: path.join(folder, 'data'),
		log: pino({level: 'warn'}, pino.destination(2)),
		settings: {...SETTINGS, hba_file: hbaFile},
	});
	teardown.add(() => server.stop());
	return server.connectionString;
};

const execute = async (connectionString: string, sql: string): Promise<void> => {
	const client = new Client({connectionString});
	await client.connect();
	try {
		await client.query(sql);
	} finally {
		await client.end();
	}
};

/**
 * Migrates the database that every test file clones.
 * @returns the address of the server's maintenance database, and the template's name.
 */
const prepareTemplate = async (folder: string, teardown: Teardown): Promise<{url: string; template: string}> => {
	const url = await findServer(folder, teardown);
	const template = `oplink_template_${randomBytes(4).toString('hex')}`;
	await execute(url, `create database ${template}`);
	teardown.add(() => execute(url, `drop database ${template} with (force)`));
	const templateUrl = new URL(url);
	templateUrl.pathname = `/${template}`;
	const db = createDb(templateUrl.href);
	try {
		await migrateUp(db);
	} finally {
		await closeDb(db);
	}

	return {url, template};
};

/**
 * Starts the tests' dependencies: PostgreSQL with a migrated template database, Redis, Chromium, and the program as its
 * users start it. Variables can name existing ones.
 * @returns the variables that tests read. @throws Error with what is missing.
 */
export const prepareServers = async (teardown: Teardown): Promise<Record<string, string>> => {
	const folder = await makeRunFolder(teardown, {inMemory: true});
	const preparing = [
		prepareRedis(folder, teardown),
		prepareTemplate(folder, teardown),
		findChromium(),
		compileProgram(teardown),
	] as const;
	// Resources still starting when another fails must be released too.
	await Promise.allSettled(preparing);
	const [redisUrl, {url, template}, chromium, compiled] = await Promise.all(preparing);
	const answers = process.env['TEST_ANSWERS'] ?? path.join(folder, 'answers');
	await mkdir(answers, {recursive: true});
	return {
		TMPDIR: folder,
		TEST_DATABASE_URL: url,
		TEST_TEMPLATE: template,
		TEST_REDIS_URL: redisUrl,
		TEST_CHROMIUM: chromium,
		TEST_ANSWERS: answers,
		TEST_BINARY: path.join(compiled, 'bin', 'oplink.js'),
	};
};
