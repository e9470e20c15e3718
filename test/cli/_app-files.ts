import {writeFile} from 'node:fs/promises';
import path from 'node:path';
import type {ExecutionContext} from 'ava';
import type {Finding} from '../../src/operations/doctor/finding.ts';
import {exampleAppConfig} from '../helpers/builders.ts';
import {pageOf, startRecordingServer} from './_recording-server.ts';
import {runCli} from './_run-cli.ts';

/** A finding in one line. */
export const fault = ({status, check, message}: Finding): string => `${status} ${check} ${message}`;

/** Domains as the admin API lists them. */
const domain = (hostname: string, more: object = {}) => ({
	hostname,
	status: 'VERIFIED',
	isDefault: false,
	verification: {type: 'TXT'},
	...more,
});

/** A server with an organization `Ab12`, its apps, the shared domain, and a verified domain of its own. */
export const serverOf = (
	t: ExecutionContext,
	{appConfig = exampleAppConfig as object, shared = 'go.example.com'} = {},
): Promise<{env: Record<string, string>}> =>
	startRecordingServer(t, {
		'GET /admin/organizations/Ab12': () => ({body: {id: 'an id', orgKey: 'Ab12'}}),
		'GET /admin/organizations/Ab12/app-config': () => ({body: appConfig}),
		'GET /admin/organizations/Ab12/domains': () => ({
			body: pageOf([
				domain('go.acme.example', {isDefault: true}),
				domain('new.acme.example', {status: 'PENDING'}),
				domain(shared, {verification: null}),
			]),
		}),
	});

/** Compares files with the server of `env`: a name of an option and its file's content. */
export const checkFiles = async (
	folder: string,
	env: Record<string, string>,
	files: Record<string, string | Uint8Array>,
	more: string[] = [],
) => {
	const options: string[] = [];
	for (const [option, content] of Object.entries(files)) {
		await writeFile(path.join(folder, option), content);
		options.push(`--${option}`, option);
	}

	const result = await runCli(['app', 'check', '--org', 'Ab12', ...options, ...more, '--json'], {
		env,
		io: {cwd: folder},
	});
	const findings = (result.stdout === '' ? [] : JSON.parse(result.stdout).findings) as Finding[];
	return {...result, findings, faults: findings.filter(({status}) => status !== 'ok')};
};

/** The files that `app kit` prints, by the option that takes them. */
export const kitFiles = async (env: Record<string, string>, platform: string): Promise<Record<string, string>> => {
	const {stdout} = await runCli(['app', 'kit', '--org', 'Ab12', '--for', platform, '--json'], {env});
	const options = [
		['AndroidManifest.xml', 'android'],
		['.entitlements', 'ios'],
		['Info.plist', 'info'],
		['app.json', 'expo'],
	] as const;
	return Object.fromEntries(
		(JSON.parse(stdout) as Array<{path: string; content: string}>).map(({path: name, content}) => [
			options.find(([end]) => name.endsWith(end))?.[1],
			content,
		]),
	);
};
