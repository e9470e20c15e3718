import path from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import type {ExecutionContext} from 'ava';
import {admin} from '../helpers/callers.ts';
import {startClickHouse} from '../helpers/clickhouse.ts';
import {startedIn} from '../helpers/started.ts';
import {freePort} from '../setup/free-port.ts';
import {type Process, shownIn, startProcess} from '../visits/clicks/_process.ts';
import {countFaults, pagesSince} from './_assess.ts';
import {STEADY_MS, type Stage, sayAcknowledged, stopAll} from './_failover.ts';
import {require, requireNone, say} from './_judge.ts';
import {startLoad} from './_load.ts';
import {until} from './_postgres.ts';

/** Raw clicks in ClickHouse, while ClickHouse and one of two processes are ended with `kill -9`. */
export const playClickHouse = async ({urlOf, folder}: Stage, t: ExecutionContext): Promise<void> => {
	say('\nClickHouse is killed with kill -9, and while it is away one of two processes; then ClickHouse once more');
	const store = await startedIn(t, startClickHouse());
	const databaseUrl = urlOf.primary;
	const common = {DATABASE_URL: databaseUrl, CLICKS_URL: store.url, LOG_FORMAT: 'json'};
	const start = (name: string, port: number): Promise<Process> =>
		startProcess(t, {...common, DATA_DIR: path.join(folder, name), PORT: String(port)}, () => {});
	const [port, otherPort] = [await freePort(), await freePort()];
	const [victim, other] = [await start('one', port), await start('two', otherPort)];
	const load = await startLoad([victim, other]);
	const {organization, links, observed} = load;
	const steady = async (): Promise<void> => {
		await delay(STEADY_MS);
		if (!load.isWell()) {
			await load.stop();
		}
	};
	await steady();
	const awayAt = performance.now();
	await store.kill();
	await steady();
	victim.child.kill('SIGKILL');
	await victim.ended;
	const deadAt = performance.now();
	// Requests to the dead one are repeated until this one answers on its port.
	const revived = await start('one', port);
	const dead = (performance.now() - deadAt) / 1000;
	await steady();
	await store.start();
	const away = (performance.now() - awayAt) / 1000;
	await steady();
	await store.kill();
	await store.start();
	await steady();
	await load.stop();
	const stoppedAt = performance.now();

	const idsIn = async (): Promise<string[]> =>
		(await store.clickHouse.select<{id: string}>('SELECT id FROM clicks FINAL')).map(({id}) => id);
	const shown = shownIn([observed]);
	await until('ClickHouse has every click that was answered', async () => {
		const there = new Set(await idsIn());
		return shown.every((id) => there.has(id));
	});
	const reported = async ({asService}: Process, query: string): Promise<number> =>
		(await admin(asService).get(`/admin/organizations/${organization.id}/stats?${query}`)).body.totals.clicks;
	const off: Record<string, number> = {};
	for (const [name, one] of Object.entries({'the revived process': revived, 'the other one': other})) {
		let ofLinks = 0;
		for (const {id} of links) {
			ofLinks += await reported(one, `linkId=${id}`);
		}

		const clicks = (await idsIn()).length;
		off[`clicks of links reported wrongly by ${name}`] = Math.abs(ofLinks - clicks);
		off[`clicks of the organization reported wrongly by ${name}`] = Math.abs((await reported(one, '')) - clicks);
	}

	const waited = (performance.now() - stoppedAt) / 1000;
	await stopAll([revived, other]);
	const ids = await idsIn();
	const pages = pagesSince(observed, 0);
	const unreachable = observed.pages.filter(({status}) => status === 0).length;
	say(
		`  ClickHouse away for ${away.toFixed(1)} s, the killed process for ${dead.toFixed(1)} s; all reports asked ${waited.toFixed(1)} s after the load`,
	);
	say(
		`  pages: ${pages.answered} answered, median ${pages.median} ms, p99 ${pages.p99} ms, longest ${pages.longest} ms; ${unreachable} met the dead process`,
	);
	require('pages are answered by every process that lives', pages.refused === unreachable);
	sayAcknowledged(observed, `${ids.length} clicks in ClickHouse`);
	requireNone({...(await countFaults(databaseUrl, observed, ids)), ...off});
};
