import type {TestFn} from 'ava';
import type {TestOrganization} from '../helpers/builders.ts';
import {type FakeClock, serviceOf, type TestService} from '../helpers/service.ts';
import {type CliOptions, type CommandLine, runCli, runOnScreen, wordsOf} from './_run-cli.ts';

/** The environment of a service's operator. */
export const environment = ({url, adminToken}: Pick<TestService, 'url' | 'adminToken'>) => ({
	OPLINK_URL: url,
	OPLINK_ADMIN_TOKEN: adminToken,
});

/** The environment in which the CLI acts with an organization's SERVER key. */
export const withKey = ({serverKey}: TestOrganization) => ({env: {OPLINK_API_KEY: serverKey}});

/** A service for a file's tests, and the CLI in the hands of its operator, with a pipe or on a terminal of 80 columns. */
export const serviceCli = (test: TestFn, clock?: FakeClock) => {
	const service = serviceOf(test, {}, clock);
	const cli = (argv: CommandLine, {env, io, ...more}: CliOptions = {}) =>
		runCli(argv, {
			...more,
			env: {...environment(service), ...env},
			// The service's clock stands still, so waiting for a limit must move it.
			io: {sleep: async (seconds) => service.clock.advance(seconds), ...io},
		});
	return {
		service,
		cli,
		/** What a command prints with `--json`. */
		json: async (argv: CommandLine, options?: CliOptions) =>
			JSON.parse((await cli([...wordsOf(argv), '--json'], options)).stdout),
		onScreen: (argv: CommandLine) => runOnScreen(argv, environment(service)),
	};
};
