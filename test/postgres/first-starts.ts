import test, {type ExecutionContext} from 'ava';
import {Client} from 'pg';
import {send} from '../helpers/callers.ts';
import {createBareDatabase} from '../helpers/database.ts';
import {dataDirectory, oplink, ready} from '../helpers/process.ts';

const bareDatabase = async (t: ExecutionContext): Promise<string> => {
	const {url, drop} = await createBareDatabase();
	t.teardown(drop);
	return url;
};

const served = async (t: ExecutionContext, url: string) =>
	oplink(t, ['serve'], {
		PORT: '0',
		ADMIN_TOKEN: 'x'.repeat(32),
		DATABASE_URL: url,
		DATA_DIR: await dataDirectory(t),
		LOG_FORMAT: 'json',
	});

/** A pipeline repeats the race more often. */
const ROUNDS = process.env['CI'] === undefined ? 3 : 10;

test('of two processes that start on an empty database both become ready, every time', async (t) => {
	for (let round = 0; round < ROUNDS; round += 1) {
		const url = await bareDatabase(t);
		const both = await Promise.all([served(t, url), served(t, url)]);
		for (const {printed, child, ended, stderr} of both) {
			const [, address = ''] = await printed(ready);
			t.is((await send(address, 'GET', '/health/ready')).status, 200);
			t.notRegex(stderr(), /"level":"(error|fatal)"/);
			child.kill('SIGKILL');
			await ended;
		}
	}
});

test('of three migrate up at once on an empty database each ends with 0, and each migration is applied by one', async (t) => {
	const env = {DATABASE_URL: await bareDatabase(t)};
	const all = Array.from({length: 3}, () => oplink(t, ['migrate', 'up', '--json'], env));
	t.deepEqual(await Promise.all(all.map(({ended}) => ended)), [0, 0, 0]);
	const status = oplink(t, ['migrate', 'status', '--json'], env);
	t.is(await status.ended, 0);
	const names = (JSON.parse(status.stdout()) as Array<{name: string}>).map(({name}) => name);
	t.deepEqual(all.flatMap(({stdout}) => (JSON.parse(stdout()) as {applied: string[]}).applied).sort(), names);
});

test('a migrate up that is killed midway leaves no lock and no half of a migration to the next', async (t) => {
	const url = await bareDatabase(t);
	const client = new Client({connectionString: url});
	await client.connect();
	// Every statement that makes something waits for the test.
	await client.query(`SELECT pg_advisory_lock(42);
		CREATE FUNCTION wait() RETURNS event_trigger LANGUAGE plpgsql AS
			$$ BEGIN PERFORM pg_advisory_xact_lock_shared(42); END $$;
		CREATE EVENT TRIGGER waits ON ddl_command_start EXECUTE FUNCTION wait()`);
	const isWaiting = async () =>
		(await client.query("SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 42 AND NOT granted")).rowCount ===
		1;
	const killed = oplink(t, ['migrate', 'up'], {DATABASE_URL: url});
	while (!(await isWaiting())) {
		// Until it is midway.
	}

	killed.child.kill('SIGKILL');
	await killed.ended;
	const next = oplink(t, ['migrate', 'up'], {DATABASE_URL: url});
	await client.query('SELECT pg_advisory_unlock(42)');
	t.is(await next.ended, 0);
	t.regex(next.stdout(), /^applied \d+_organizations$/m);
	await client.end();
});
