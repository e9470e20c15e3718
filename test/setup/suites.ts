import {readdirSync} from 'node:fs';
import path from 'node:path';
import {packageRoot} from '../../src/platform/package-root.ts';

/** Files that `npm run test:deep` runs and `npm test` does not: they take long and rarely find something. */
export const deepOnly = {
	'test/accounts/billing/fake-gateways.ts': 'the local gateways as a whole',
	'test/accounts/billing/fake-paymob.ts': 'the local Paymob',
	'test/accounts/billing/fake-stripe.ts': 'the local Stripe',
	'test/accounts/billing/fake-stripe-api.ts': 'the API of the local Stripe',
	'test/bench/match-accuracy.ts': 'accuracy of matches',
	'test/client/app-package.ts': 'the package for apps',
	'test/client/csharp.ts': 'the C# client, by Mono',
	'test/client/kotlin.ts': 'the Kotlin client',
	'test/client/package.ts': 'the package of the client',
	'test/hostile/route-costs.ts': 'what a stranger costs',
	'test/hostile/regular-expressions.ts': 'time of regular expressions',
	'test/operations/openapi/client-types.ts': 'types of generated clients',
	'test/platform/db/releases.ts': 'what earlier releases left is opened',
	'test/platform/db/side-by-side.ts': 'a former and a later version on one database under load',
	'test/platform/db/upgrade.ts': 'migrations undone',
	'test/platform/embedded/crashes-password.ts': 'crashes of the PostgreSQL that comes along',
	'test/platform/embedded/stopped-first-start.ts': 'first starts that are stopped',
	'test/platform/metrics/several-processes.ts': 'metrics of several processes',
	'test/platform/postgres/mistakes.ts': 'mistakes with PostgreSQL',
	'test/platform/postgres/unusual-servers.ts': 'unusual PostgreSQL servers',
	'test/release/debian.ts': 'the Debian package, installed and purged',
	'test/start/service/stops.ts': 'stops under load and of silent databases',
	'test/start/workers/again.ts': 'all surfaces with two workers',
	'test/start/workers/again-with-redis.ts': 'two workers with Redis',
	'test/start/workers/outages.ts': 'workers through outages',
	'test/visits/abuse/many.ts': 'many reports, and a large import beside lists',
	'test/visits/clicks/crashes.ts': 'crashes under load',
	'test/visits/clicks/exactness.ts': 'exactness of counts',
	'test/visits/clicks/journal-life.ts': 'journals of processes that end',
	'test/visits/export/duckdb.ts': 'exports in DuckDB',
	'test/visits/page/abuse-looks.ts': 'the warning and the report form in Chromium',
	'test/visits/page/api-page.ts': 'the page of the API in Chromium',
	'test/visits/page/clipboard.ts': 'the clipboard in Chromium',
	'test/visits/page/leaving.ts': 'leaving the page in Chromium',
	'test/visits/page/looks.ts': 'the looks of pages in Chromium',
	'test/visits/page/signals.ts': 'signals in Chromium',
	'test/visits/resolution/link-memory.ts': 'memory of links',
	'test/visits/webhooks/receivers.ts': 'receivers of webhooks in Node, Python and Go',
};

/** What `npm test` and `npm run test:deep` run. */
type Suite = 'usual' | 'deep';

/** Files of which `npm test` runs fewer cases than `npm run test:deep` (helpers/deep.ts). */
export const longerWhenDeep = [
	'test/accounts/billing/model/sequences.ts',
	'test/accounts/identity/received-events.ts',
	'test/accounts/tokens/providers.ts',
	'test/accounts/tokens/revocation.ts',
	'test/cli/app-check.ts',
	'test/hostile/fuzz.ts',
	'test/hostile/taps.ts',
	'test/operations/openapi/fitting-bodies.ts',
	'test/visits/matches/tap-query.ts',
];

/** Files that a process of their own runs, because they change it or measure it. */
const alone = {
	'test/accounts/billing/model/sequences.ts': 'tries more cases while it has used little CPU',
	'test/client/platform.ts': 'replaces fetch and crypto, and measures time',
	'test/hostile/fuzz.ts': 'measures CPU and memory, and sets flags of V8',
	'test/platform/limits/processes.ts': 'stops the timers of its process',
	'test/platform/limits/sliding-window.ts': 'measures memory',
	'test/visits/clicks/clickhouse-memory.ts': 'measures memory',
};

const NO_TESTS = /(^|\/)_|^(setup|helpers|fakes|fixtures|machines)\//;

const testFiles = (): string[] =>
	readdirSync(path.join(packageRoot, 'test'), {recursive: true, encoding: 'utf8'})
		.filter((name) => /\.tsx?$/.test(name) && !NO_TESTS.test(name))
		.map((name) => path.join('test', name))
		.sort();

const filesOf = (suite: Suite): string[] =>
	suite === 'deep'
		? [...Object.keys(deepOnly), ...longerWhenDeep]
		: testFiles().filter((file) => !Object.hasOwn(deepOnly, file));

/** More would run too many services at once. */
const MAX_FILES = 8;
/** Fewer files of a folder share a process with others of their room. */
const FEWEST_FILES = 5;

const inParts = (name: string, files: string[]): Array<[string, string[]]> => {
	const count = Math.ceil(files.length / MAX_FILES);
	const size = Math.ceil(files.length / count);
	return Array.from({length: count}, (_, part) => [
		count === 1 ? name : `${name}-${part + 1}`,
		files.slice(part * size, (part + 1) * size),
	]);
};

/** The processes of a suite, by name, with the files that each of them runs: those of a folder, as far as they can share one. */
export const processesOf = (suite: Suite): Array<[name: string, files: string[]]> => {
	const isAlone = (file: string) => suite === 'deep' || Object.hasOwn(alone, file);
	const files = filesOf(suite);
	const sharing = files.filter((file) => !isAlone(file));
	const inFolder = (folder: string) => sharing.filter((file) => path.dirname(file) === folder);
	const groups = new Map<string, string[]>();
	for (const file of sharing) {
		const folder = path.dirname(file);
		const name = inFolder(folder).length < FEWEST_FILES ? folder.split('/').slice(0, 2).join('/') : folder;
		groups.set(name, [...(groups.get(name) ?? []), file]);
	}

	return [
		...[...groups].flatMap(([name, shared]) => inParts(name === 'test' ? 'test/all' : name, shared)),
		...files.filter(isAlone).map((file): [string, string[]] => [file.replace(/\.tsx?$/, ''), [file]]),
	];
};
