import {execFile} from 'node:child_process';
import {readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {promisify} from 'node:util';
import test from 'ava';
import {closeDb, createDb} from '../../../src/platform/db/db.ts';
import {packageRoot, packageVersion} from '../../../src/platform/package-root.ts';
import {ends, runCli} from '../../cli/_run-cli.ts';
import {send} from '../../helpers/callers.ts';
import {createBareDatabase} from '../../helpers/database.ts';
import {dataDirectory, oplink, ready} from '../../helpers/process.ts';

const releases = path.join(packageRoot, 'test/fixtures/releases');
const versions = readdirSync(releases);

test('there is a fixture of the first release', (t) => {
	t.true(versions.includes('1.0.0') && packageVersion() >= '1.0.0');
});

for (const version of versions) {
	const folder = path.join(releases, version);
	const expected = JSON.parse(readFileSync(path.join(folder, 'expected.json'), 'utf8'));

	test(`the DATA_DIR that a killed ${version} left is opened, with the clicks of its journal`, async (t) => {
		const work = await dataDirectory(t);
		await promisify(execFile)('tar', ['-xJf', path.join(folder, 'data.tar.xz'), '-C', work]);
		const DATA_DIR = path.join(work, 'data');
		const program = oplink(t, ['serve'], {PORT: '0', DATA_DIR, LOG_FORMAT: 'json'});
		const [, url = ''] = await program.printed(ready);
		const token = readFileSync(path.join(DATA_DIR, 'admin-token'), 'utf8').trim();
		const headers = {Authorization: `Bearer ${token}`};
		const {body} = await send(url, 'GET', '/admin/organizations', headers);
		const found = await Promise.all(
			body.data.map(({id}: {id: string}) =>
				send(url, 'GET', `/admin/organizations/${id}/stats?from=2026-11-01&to=2027-01-31`, headers),
			),
		);
		const seen = found.reduce((sum, {body: stats}) => sum + stats.totals.clicks, 0);
		t.is(seen, expected.clicks);
		t.like(await send(url, 'GET', `${expected.pathname}/data`), {status: 200, body: {linkId: expected.linkId}});
		program.child.kill('SIGTERM');
		t.is(await program.ended, 0);
	});

	test(`the backup that ${version} made is checked and restored`, async (t) => {
		const database = await createBareDatabase();
		t.teardown(() => database.drop());
		const file = path.join(folder, 'oplink.backup');
		const env = {DATABASE_URL: database.url, DATA_DIR: await dataDirectory(t)};
		const checked = ends(t, await runCli(['backup', 'check', file, '--json']), 0);
		t.like(JSON.parse(checked.stdout), {ok: true, program: version});
		ends(t, await runCli(['restore', file], {env}), 0);
		const db = createDb(database.url, {poolSize: 1});
		t.is((await db('links').where('id', expected.linkId)).length, 1);
		t.is((await db('clicks')).length, expected.backedUp);
		await closeDb(db);
	});
}
