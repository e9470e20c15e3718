import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {cp, readFile, symlink, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import {packageRoot} from '../../../src/platform/package-root.ts';
import {matchTokenIn} from '../../../src/visits/matches/open-match.ts';
import {link, organization, type TestOrganization} from '../../helpers/builders.ts';
import {anonymous, withKey} from '../../helpers/callers.ts';
import {binary, dataDirectory} from '../../helpers/process.ts';
import {adminToken, type Process, stage, startProcess} from '../../visits/clicks/_process.ts';
import {userAgents} from '../../visits/matches/_phones.ts';

const VERSION = '99.0.0';
const MIGRATION = '99991231000000_later';

/** A column of each kind of table that a process writes, and an index, as a later version would add them. */
const LATER = `-- migrate:up
ALTER TABLE links ADD COLUMN later text;
CREATE INDEX links_later ON links (later);
ALTER TABLE clicks ADD COLUMN later text DEFAULT 'x';
ALTER TABLE match_clicks ADD COLUMN later integer;

-- migrate:down
ALTER TABLE match_clicks DROP COLUMN later;
ALTER TABLE clicks DROP COLUMN later;
DROP INDEX links_later;
ALTER TABLE links DROP COLUMN later;
`;

/** This version with one more migration, installed in a folder of its own. @returns its program. */
const laterVersion = async (t: ExecutionContext): Promise<string> => {
	const folder = await dataDirectory(t);
	const compiled = path.join(path.dirname(binary), '..');
	await Promise.all([
		cp(compiled, folder, {recursive: true, verbatimSymlinks: true}),
		cp(path.join(packageRoot, 'config'), path.join(folder, 'config'), {recursive: true}),
		cp(path.join(packageRoot, 'migrations'), path.join(folder, 'migrations'), {recursive: true}),
		symlink(path.join(packageRoot, 'node_modules'), path.join(folder, 'node_modules')),
	]);
	const manifest = JSON.parse(await readFile(path.join(packageRoot, 'package.json'), 'utf8'));
	await writeFile(path.join(folder, 'package.json'), JSON.stringify({...manifest, version: VERSION}));
	await writeFile(path.join(folder, 'migrations', `${MIGRATION}.sql`), LATER);
	return path.join(folder, 'bin', 'oplink.js');
};

const REQUESTS_PER_SECOND = 200;
const MAX_IN_FLIGHT = 100;

/** Visits until the app of one is opened, two seconds later: clicks in the journal of another process are not seen yet. */
const FIRST_OPENS_AFTER = 40;

type Done = {pages: number; writes: number; matches: number; failed: string[]};

/** Pages, writes and matches at a steady rate, in turn to each of `processes`, which may change, until `stop`. */
const startLoad = async (processes: Process[]) => {
	const [first = null] = processes;
	const service = first?.asService ?? {url: '', adminToken};
	const organizations = await Promise.all(
		Array.from({length: 6}, async () => {
			const acme = await organization(service as Process['asService'], {plan: 'ENTERPRISE'});
			return {acme, links: await Promise.all(Array.from({length: 5}, () => link(acme)))};
		}),
	);
	const visited: Array<{acme: TestOrganization; clipboardToken: string | null}> = [];
	const done: Done = {pages: 0, writes: 0, matches: 0, failed: []};
	let continues = true;
	let number = 0;
	let skipped = 0;
	const page = async (target: Process, url: string): Promise<string | null> => {
		const answer = await anonymous(target).get(new URL(url).pathname, {'User-Agent': userAgents.iPhone});
		done.pages += 1;
		return answer.status === 200 ? matchTokenIn(answer.text) : Promise.reject(new Error(`page ${answer.status}`));
	};
	const ask = async (index: number): Promise<void> => {
		const target = processes[index % processes.length] ?? (first as Process);
		const {acme, links} = organizations[index % organizations.length] ?? (organizations[0] as never);
		const {id, url} = links[index % links.length] ?? (links[0] as never);
		const server = withKey(target, acme.serverKey);
		if (index % 10 < 6) {
			await page(target, url);
		} else if (index % 10 < 9) {
			const written =
				index % 2 === 0
					? await server.post('/links', {path: `/made/${index}`})
					: await server.patch(`/links/${id}`, {title: `Title ${index}`});
			done.writes += 1;
			if (written.status >= 300) {
				throw new Error(`write ${written.status}: ${written.text}`);
			}
		} else {
			visited.push({acme, clipboardToken: await page(target, url)});
			const first = visited.length > FIRST_OPENS_AFTER ? visited.shift() : undefined;
			if (first === undefined) {
				return;
			}

			const other = processes[(index + 1) % processes.length] ?? target;
			const body = {clipboardToken: first.clipboardToken, deviceId: `device-${index}`, platform: 'iOS'};
			const found = await withKey(other, first.acme.clientKey).post('/match', body);
			done.matches += 1;
			if (found.status !== 200 || found.body.matched !== true) {
				throw new Error(`match ${found.status}: ${found.text}`);
			}
		}
	};
	const asked = new Set<Promise<void>>();
	const ended = (async () => {
		const from = performance.now();
		while (continues) {
			const due = Math.floor(((performance.now() - from) * REQUESTS_PER_SECOND) / 1000);
			for (; number + skipped < due; number += 1) {
				// A machine that is too slow for the rate gets fewer requests, and no backlog.
				if (asked.size >= MAX_IN_FLIGHT) {
					skipped = due - number;
					break;
				}

				const one = ask(number).catch((error: Error) => void done.failed.push(error.message));
				asked.add(one);
				void one.then(() => asked.delete(one));
			}

			await delay(5);
		}

		await Promise.all(asked);
	})();
	return {
		organizations,
		/** Waits until so many more requests were sent. */
		after: async (count: number) => {
			for (const until = number + count; number < until; ) {
				await delay(5);
			}
		},
		/** Takes a process out of the turn, and waits for its answers, as a balancer does before a stop. */
		drain: async (process: Process): Promise<void> => {
			processes.splice(processes.indexOf(process), 1);
			await Promise.all([...asked]);
		},
		stop: async (): Promise<Done> => {
			continues = false;
			await ended;
			return done;
		},
	};
};

const run = async (program: string, args: string[], env: Record<string, string>): Promise<number> => {
	const child = spawn(process.execPath, [program, ...args], {env: {PATH: process.env.PATH, ...env}, stdio: 'ignore'});
	const [code] = await once(child, 'exit');
	return code as number;
};

test('a later version takes over a database under load: no page, write or match fails, and it can be rolled back', async (t) => {
	const {db, database} = await stage(t);
	const envOf = async () => ({DATABASE_URL: database.url, DATA_DIR: await dataDirectory(t)});
	const [formerEnv, laterEnv, later] = await Promise.all([envOf(), envOf(), laterVersion(t)]);
	const former = await startProcess(t, formerEnv);
	const processes = [former];
	const load = await startLoad(processes);
	await load.after(400);

	const next = await startProcess(t, laterEnv, undefined, later);
	t.is((await db('migrations').where('name', MIGRATION)).length, 1);
	processes.push(next);
	await load.after(800);

	await load.drain(former);
	await former.stop();
	await load.after(400);
	const {failed, ...counts} = await load.stop();
	t.log(JSON.stringify(counts));
	t.deepEqual(failed, []);
	t.true(counts.pages > 1000 && counts.writes > 400 && counts.matches > 100);
	await next.stop();
	t.is(Number((await db('clicks').count())[0]?.['count']), counts.pages);

	t.is(await run(later, ['migrate', 'down', '--yes'], laterEnv), 0);
	const again = await startProcess(t, formerEnv);
	const {acme, links} = load.organizations[0] ?? t.fail();
	const [{url, id} = t.fail()] = links;
	t.is((await anonymous(again).get(new URL(url).pathname)).status, 200);
	t.is((await withKey(again, acme.serverKey).get(`/links/${id}`)).status, 200);
	await again.stop();
});
