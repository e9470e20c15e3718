import type {TestFn} from 'ava';
import type {TestOrganization} from '../helpers/builders.ts';
import {admin} from '../helpers/callers.ts';
import {serviceOf, type TestService} from '../helpers/service.ts';
import {type CommandLine, runCli, runOnScreen} from './_run-cli.ts';

export const environment = ({url, adminToken}: TestService) => ({OPLINK_URL: url, OPLINK_ADMIN_TOKEN: adminToken});

/** A service for a file's tests of `oplink match`, and the CLI that asks it, with a pipe or a terminal of 80 columns. */
export const matchShell = (test: TestFn) => {
	const service = serviceOf(test);
	return {
		service,
		cli: (argv: CommandLine) => runCli(argv, {env: environment(service)}),
		onTerminal: (argv: CommandLine) => runOnScreen(argv, environment(service)),
	};
};

export const attemptsOf = async (service: TestService, {id}: TestOrganization) =>
	(await admin(service).get(`/admin/organizations/${id}/matches`)).body.data;

export const widest = (text: string): number => Math.max(...text.split('\n').map((line) => line.length));

/** The value of a name in the first column. */
export const shown = (text: string, name: string): string | undefined =>
	new RegExp(`^${name} {2,}(.*)$`, 'm').exec(text)?.[1];
