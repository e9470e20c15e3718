import {mkdtemp} from 'node:fs/promises';
import path from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {type Line, openDatabaseLine, openLine} from '../../test/helpers/cut-off.ts';
import {type Figure, noneOf} from './figure.ts';
import type {Installation, Server} from './installation.ts';
import {load} from './load.ts';
import {addOwnDomain, mixOf, requestOf} from './mix.ts';
import type {Measure, Stage} from './stage.ts';

const HOT_LINKS = 100;
const CONNECTIONS = 32;
/** Steady, so that an outage is met by as many clicks as it is long. */
const RATE = 2000;

/** The visits of the mix, distinguished by their referrers. `answered`: with a page, which is a click or a crawler's view. */
type Visits = {sent: number; answered: Set<number>; bad: number};

const visitAll = async (installation: Installation, {url}: Server, seconds: number, so: Visits): Promise<void> => {
	const from = so.sent;
	const kindOf = mixOf(installation, HOT_LINKS);
	const {sent} = await load(url, {
		connections: CONNECTIONS,
		seconds,
		rate: RATE,
		request: (n) => requestOf(kindOf(n))(url)(n, `Referer: https://v${from + n}.example/\r\n`),
		onAnswer: (n, status) => {
			const expected = kindOf(n).status ?? 200;
			if (status !== expected) {
				so.bad += 1;
			} else if (status === 200) {
				so.answered.add(from + n);
			}
		},
	});
	so.sent += sent;
};

/** How often each visit is stored. */
const storedVisits = async ({client}: Installation): Promise<Map<number, number>> => {
	const {rows} = await client.query('SELECT referrer_host AS host, count(*) AS count FROM clicks GROUP BY 1');
	return new Map(
		rows.map(({host, count}) => [Number(/^v(\d+)\.example$/.exec(host)?.[1] ?? Number.NaN), Number(count)]),
	);
};

/** Compares what was answered with what is stored, click by click. */
const compare = async (installation: Installation, {answered, sent}: Visits) => {
	const until = performance.now() + 60_000;
	const missingIn = (stored: Map<number, number>) => [...answered].filter((n) => !stored.has(n)).length;
	while (missingIn(await storedVisits(installation)) > 0 && performance.now() < until) {
		await delay(500);
	}

	// One that comes twice may come late.
	await delay(1000);
	const stored = await storedVisits(installation);
	const missing = missingIn(stored);
	return {
		missing,
		doubled: [...stored.values()].filter((count) => count > 1).length,
		unknown: [...stored.keys()].filter((n) => !(n < sent)).length,
		unanswered: stored.size - (answered.size - missing),
	};
};

type Scene = {stage: Stage; installation: Installation; dataDir: string; visits: Visits};

const ended =
	(signal: NodeJS.Signals) =>
	async ({installation, dataDir, visits}: Scene): Promise<void> => {
		for (let round = 0; round < 3; round += 1) {
			const server = await installation.start({DATA_DIR: dataDir});
			const ending = delay(3000).then(() => server.stop(signal));
			await visitAll(installation, server, 6, visits);
			await ending;
		}

		await visitAll(installation, await installation.start({DATA_DIR: dataDir}), 1, visits);
	};

/** Cuts a line of the server's for a while, in the middle of a load. */
const outage = async (scene: Scene, line: Line, seconds: number, env: Record<string, string>): Promise<void> => {
	const {stage, installation, dataDir, visits} = scene;
	const awaySeconds = stage.quick ? 3 : seconds;
	const server = await installation.start({DATA_DIR: dataDir, ...env});
	// What is not in memory cannot be read without the database.
	await visitAll(installation, server, 3, visits);
	const away = delay(2500)
		.then(line.cut)
		.then(() => delay(awaySeconds * 1000))
		.then(line.mend);
	await visitAll(installation, server, awaySeconds + 6, visits);
	await away;
	await server.stop();
	await line.close();
};

const scenes: Record<string, (scene: Scene) => Promise<void>> = {
	'kill -9': ended('SIGKILL'),
	SIGTERM: ended('SIGTERM'),
	'PostgreSQL away': async (scene) => {
		const {line, url} = await openDatabaseLine(scene.installation.databaseUrl);
		await outage(scene, line, 30, {DATABASE_URL: url});
	},
	'Redis away': async (scene) => {
		const {hostname, port} = new URL(await scene.stage.redis());
		const line = await openLine({host: hostname, port: Number(port)});
		await outage(scene, line, 10, {REDIS_URL: `redis://127.0.0.1:${line.port}`});
	},
};

const play = async (stage: Stage, name: string, run: (scene: Scene) => Promise<void>): Promise<Figure> => {
	const installation = await stage.installation({links: HOT_LINKS});
	await addOwnDomain(installation.client, installation.organization);
	const visits: Visits = {sent: 0, answered: new Set(), bad: 0};
	const dataDir = await mkdtemp(path.join(stage.folder, 'lost-'));
	await run({stage, installation, dataDir, visits});
	const {missing, doubled, unknown, unanswered} = await compare(installation, visits);
	await installation.close();
	const wrong = missing + doubled + unknown;
	return noneOf(`clicks lost or doubled, ${name}`, wrong, {
		unit: 'clicks',
		notes: [
			`${visits.answered.size} pages shown of ${visits.sent} asked for; ${visits.bad} answered with an error; ` +
				`${unanswered} clicks stored whose answer broke off`,
		],
		failures: wrong === 0 ? [] : [`${missing} lost, ${doubled} doubled, ${unknown} that nobody made`],
	});
};

/** Ends servers and cuts them off while the mix of visits is answered, and looks for every single click afterwards. */
export const lostClicks: Measure = {
	name: 'lost-clicks',
	measure: async (stage) => {
		const figures: Figure[] = [];
		for (const [name, run] of Object.entries(scenes)) {
			stage.progress(`lost-clicks: ${name}`);
			figures.push(await play(stage, name, run));
		}

		return figures;
	},
};
