import {writeFile} from 'node:fs/promises';
import path from 'node:path';
import type {ExecutionContext} from 'ava';
import type {Finding} from '../../src/operations/finding.ts';
import {exampleAppConfig} from '../helpers/builders.ts';
import {folderOf} from '../helpers/folder.ts';
import {pageOf, startRecordingServer} from './_recording-server.ts';
import {ends, runCli} from './_run-cli.ts';

/** Domains as the admin API lists them. */
const domain = (hostname: string, more: object = {}) => ({
	hostname,
	status: 'VERIFIED',
	isDefault: false,
	verification: {type: 'TXT'},
	...more,
});

/** An app's folder, and a server with an organization `Ab12`, its apps, the shared domain, and one of its own. */
export const appProject = async (
	t: ExecutionContext,
	{appConfig = exampleAppConfig as object, shared = 'go.example.com', more = [] as string[]} = {},
) => {
	const [folder, {env, cli}] = await Promise.all([
		folderOf(t),
		startRecordingServer(t, {
			'GET /admin/organizations/Ab12': {body: {id: 'an id', orgKey: 'Ab12'}},
			'GET /admin/organizations/Ab12/app-config': {body: appConfig},
			'GET /admin/organizations/Ab12/domains': {
				body: pageOf([
					domain('go.acme.example', {isDefault: true}),
					domain('new.acme.example', {status: 'PENDING'}),
					...more.map((name) => domain(name)),
					domain(shared, {verification: null}),
				]),
			},
		}),
	]);
	/** `oplink app check` in the folder; `checks` and `faults` are of the findings other than ok. */
	const run = async (options: readonly string[], stdin = '') => {
		const result = await runCli(['app', 'check', '--org', 'Ab12', ...options], {env, stdin, io: {cwd: folder}});
		const isJson = options.includes('--json') && result.stdout !== '';
		const findings: Finding[] = isJson ? JSON.parse(result.stdout).findings : [];
		const notFine = findings.filter(({status}) => status !== 'ok');
		return {
			...result,
			findings,
			checks: notFine.map(({check}) => check),
			faults: notFine.map(({status, check, message}) => `${status} ${check} ${message}`),
		};
	};
	return {
		folder,
		cli,
		run,
		/** Compares files with the server: a name of an option and its file's content. */
		check: async (files: Record<string, string | Uint8Array>, more: readonly string[] = []) => {
			for (const [option, content] of Object.entries(files)) {
				await writeFile(path.join(folder, option), content);
			}

			const options = Object.keys(files).flatMap((option) => [`--${option}`, option]);
			return run([...options, ...more, '--json']);
		},
		/** The files that `app kit` prints, by the option that takes them. */
		kit: async (platform: string): Promise<Record<string, string>> => {
			const {stdout} = ends(t, await cli(`app kit --org Ab12 --for ${platform} --json`), 0);
			const options = {
				'AndroidManifest.xml': 'android',
				'.entitlements': 'ios',
				'Info.plist': 'info',
				'app.json': 'expo',
			};
			const optionOf = (name: string) => Object.entries(options).find(([end]) => name.endsWith(end))?.[1];
			const printed: Array<{path: string; content: string}> = JSON.parse(stdout);
			return Object.fromEntries(printed.map(({path: name, content}) => [optionOf(name), content]));
		},
	};
};
