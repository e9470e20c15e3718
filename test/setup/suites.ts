import {readdirSync} from 'node:fs';
import path from 'node:path';
import {packageRoot} from '../../src/platform/package-root.ts';

/** Files that `npm run test:deep` runs and `npm test` does not: they take long and rarely find something. */
export const deepOnly = {
	'test/bench/match-accuracy.ts': 'accuracy of matches',
	'test/client/kotlin.ts': 'the Kotlin client',
	'test/hostile/regular-expressions.ts': 'time of regular expressions',
	'test/operations/openapi/client-types.ts': 'types of generated clients',
	'test/start/workers/again-with-redis.ts': 'two workers with Redis',
	'test/visits/clicks/exactness.ts': 'exactness of counts',
	'test/visits/export/duckdb.ts': 'exports in DuckDB',
};

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
	'test/platform/postgres/unusual-servers.ts',
	'test/visits/match/tap-query.ts',
];

const NO_TESTS = /(^|\/)_|^(setup|helpers|fakes|fixtures)\//;

const testFiles = (): string[] =>
	readdirSync(path.join(packageRoot, 'test'), {recursive: true, encoding: 'utf8'})
		.filter((name) => /\.tsx?$/.test(name) && !NO_TESTS.test(name))
		.map((name) => path.join('test', name))
		.sort();

/** The files that `npm test` or `npm run test:deep` runs. */
export const filesOf = (suite: 'usual' | 'deep'): string[] =>
	suite === 'deep'
		? [...Object.keys(deepOnly), ...longerWhenDeep]
		: testFiles().filter((file) => !Object.hasOwn(deepOnly, file));
