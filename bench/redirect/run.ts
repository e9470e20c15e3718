import {type ChildProcess, spawn} from 'node:child_process';
import {chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {parseArgs} from 'node:util';
import {packageRoot} from '../../src/package-root.ts';
import {load, type Measured} from './load.ts';

// The short URL's page against bare node:http and bare Koa that answer the same bytes, in turns, in one run. The servers
// and the database have one core, the load another one. `npx tsx bench/redirect/run.ts`, after `npm run build`.
const {values} = parseArgs({
	options: {
		rounds: {type: 'string', default: '5'},
		seconds: {type: 'string', default: '4'},
		connections: {type: 'string', default: '64'},
		addresses: {type: 'string', default: '50000'},
		core: {type: 'string', default: '0'},
		/** Only targets whose name has this in it. */
		only: {type: 'string', default: ''},
		/** Arguments of node for the server, such as `--cpu-prof`. */
		node: {type: 'string', default: ''},
	},
});
const shape = {
	connections: Number(values.connections),
	seconds: Number(values.seconds),
	addresses: Number(values.addresses),
};

const folder = mkdtempSync(path.join(os.tmpdir(), 'oplink-bench-'));
// As root the database belongs to nobody, who has to get there.
chmodSync(folder, 0o711);
const children: ChildProcess[] = [];

/** Starts a program on the servers' core and waits for its URL. */
const start = async (args: string[], env: NodeJS.ProcessEnv = {}) => {
	const child = spawn('taskset', ['-c', values.core, process.execPath, ...args], {
		env: {...process.env, ...env},
		stdio: ['ignore', 'pipe', 'inherit'],
	});
	children.push(child);
	let printed = '';
	for await (const chunk of child.stdout) {
		printed += chunk;
		const [, url] = /ready at (\S+)\n/.exec(printed) ?? [];
		if (url !== undefined && (!args.includes('serve') || /organization \S+: (\S+)\n/.test(printed))) {
			child.stdout.resume();
			return {pid: child.pid ?? 0, url, printed, child};
		}
	}

	throw new Error(`did not start: ${printed}`);
};

const statOf = (pid: number): {parent: number; seconds: number} => {
	const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
		.replace(/\(.*\)/, 'name')
		.split(' ');
	const [, , , parent] = fields;
	const [user, system] = fields.slice(13);
	return {parent: Number(parent), seconds: (Number(user) + Number(system)) / 100};
};

const processes = (): number[] => readdirSync('/proc').map(Number).filter(Number.isInteger);

/** CPU seconds of a process, and of those that PostgreSQL runs below `postmaster`. */
const cpuOf = (pid: number, postmaster: number | null): {own: number; database: number} => {
	let database = 0;
	for (const other of postmaster === null ? [] : processes()) {
		try {
			const {parent, seconds} = statOf(other);
			database += other === postmaster || parent === postmaster ? seconds : 0;
		} catch {
			// It has ended meanwhile.
		}
	}

	return {own: statOf(pid).seconds, database};
};

const measure = async (target: URL, pid: number, postmaster: number | null) => {
	const before = cpuOf(pid, postmaster);
	const measured = await load(target, shape);
	const after = cpuOf(pid, postmaster);
	return {
		measured,
		own: ((after.own - before.own) * 1e6) / measured.answered,
		database: ((after.database - before.database) * 1e6) / measured.answered,
	};
};

const median = (numbers: number[]): number => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
const quantile = ({latencies}: Measured, part: number): number => latencies[Math.floor(latencies.length * part)] ?? 0;

const run = async () => {
	const dataDir = path.join(folder, 'data');
	const oplink = await start(
		[...values.node.split(' ').filter(Boolean), path.join(packageRoot, 'bin', 'oplink.js'), 'serve'],
		{PORT: '0', DATA_DIR: dataDir, TRUSTED_PROXIES: '127.0.0.0/8', LOG_LEVEL: 'warn', HOME: folder},
	);
	const [, page = ''] = /organization \S+: (\S+)/.exec(oplink.printed) ?? [];
	const lockFile = readdirSync(dataDir, {recursive: true, encoding: 'utf8'}).find((name) =>
		name.endsWith('postmaster.pid'),
	);
	const postmaster = Number(readFileSync(path.join(dataDir, lockFile ?? ''), 'utf8').split('\n')[0]);
	const pageUrl = new URL(new URL(page).pathname, oplink.url);
	const sample = await fetch(pageUrl, {
		headers: {'User-Agent': 'Mozilla/5.0 (Linux; Android 10; K) Chrome/137.0.0.0 Mobile Safari/537.36'},
	});
	const body = await sample.text();
	const headers = Object.fromEntries(
		[...sample.headers].filter(([name]) => !['date', 'connection', 'keep-alive'].includes(name)),
	);
	const file = path.join(folder, 'page.json');
	writeFileSync(file, JSON.stringify({headers, body}));
	const data = path.join(folder, 'data.json');
	const bare = path.join(packageRoot, 'bench', 'redirect', 'bare.ts');
	writeFileSync(data, '');
	const http = await start(['--import=tsx', bare, 'http', file]);
	const koa = await start(['--import=tsx', bare, 'koa', file]);
	const targets = [
		{name: 'node:http', url: new URL(http.url), pid: http.pid, postmaster: null},
		{name: 'Koa', url: new URL(koa.url), pid: koa.pid, postmaster: null},
		{name: 'page', url: pageUrl, pid: oplink.pid, postmaster},
		{
			name: '/data',
			url: new URL(`${pageUrl.pathname}/data`, oplink.url),
			pid: oplink.pid,
			postmaster,
		},
	].filter(({name}) => name.includes(values.only));
	console.log(
		`page of ${Buffer.byteLength(body)} bytes; load ${os
			.loadavg()
			.map((value) => value.toFixed(1))
			.join(' ')}`,
	);
	const rounds = new Map(targets.map(({name}) => [name, [] as Awaited<ReturnType<typeof measure>>[]]));
	let [answered, bad] = [1, 0];
	for (let round = 0; round <= Number(values.rounds); round += 1) {
		for (const {name, url, pid, postmaster: parent} of targets) {
			const one = await measure(url, pid, parent);
			if (parent !== null) {
				answered += one.measured.answered;
				bad += one.measured.bad;
			}

			// The first round warms up.
			if (round > 0) {
				rounds.get(name)?.push(one);
			}
		}
	}

	const base = median(rounds.get('node:http')?.map(({measured}) => measured.answered / measured.seconds) ?? []);
	const baseCpu = median(rounds.get('node:http')?.map(({own}) => own) ?? []);
	for (const [name, list] of rounds) {
		const rate = median(list.map(({measured}) => measured.answered / measured.seconds));
		const own = median(list.map((one) => one.own));
		const database = median(list.map((one) => one.database));
		console.log(
			`${name.padEnd(10)} ${Math.round(rate)}/s  ÷ node:http ${(rate / base).toFixed(2)}  CPU ${own.toFixed(1)} + ${database.toFixed(1)} µs, ÷ ${(baseCpu / (own + database)).toFixed(2)}  p50 ${median(list.map(({measured}) => quantile(measured, 0.5))).toFixed(2)} p99 ${median(list.map(({measured}) => quantile(measured, 0.99))).toFixed(2)} ms`,
		);
	}

	const token = readFileSync(path.join(dataDir, 'admin-token'), 'utf8').trim();
	const stored = async (): Promise<number> => {
		const status = await fetch(new URL('/admin/status', oplink.url), {headers: {Authorization: `Bearer ${token}`}});
		const {counts} = (await status.json()) as {counts: {clicksThisMonth: number}};
		return counts.clicksThisMonth;
	};
	const ended = performance.now();
	let clicks = await stored();
	while (clicks < answered && performance.now() - ended < 30_000) {
		await new Promise((resolve) => setTimeout(resolve, 100));
		clicks = await stored();
	}

	const seconds = ((performance.now() - ended) / 1000).toFixed(1);
	console.log(
		`${answered} answered, ${bad} not 200, ${clicks} clicks stored after ${seconds} s; load ${os.loadavg()[0]?.toFixed(1)}`,
	);
	oplink.child.kill('SIGTERM');
	await new Promise((resolve) => oplink.child.once('close', resolve));
};

try {
	await run();
} finally {
	for (const child of children) {
		child.kill('SIGKILL');
	}

	rmSync(folder, {recursive: true, force: true});
}
