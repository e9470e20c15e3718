import {Option} from 'commander';
import type {LinkHost} from '../../operations/doctor/hosts.ts';
import {type Finding, findingsOf} from '../../operations/finding.ts';
import {createClock} from '../../platform/clock.ts';
import {exitCodes} from '../cli-errors.ts';
import {type Context, command} from '../command.ts';
import {askServer, reachServer} from '../doctor/ask-server.ts';
import {examineHost, examinePublicUrl} from '../doctor/examine-host.ts';
import {askForNewerPostgres, askPublicCaches, publicCachesOf} from '../doctor/public-caches.ts';
import {createReport, strictOption} from '../doctor/report.ts';
import {examineThisMachine} from '../doctor/this-machine.ts';
import {inParallel} from '../import/in-parallel.ts';
import {collect} from '../link-fields.ts';
import {nameOf} from '../server/connection.ts';
import {flattened} from '../terminal/output.ts';

type Options = {org?: string[]; strict?: boolean; public?: boolean};

const PARALLEL_HOSTS = 8;

/** Prints findings by area as they arrive, those of hosts last. @returns whether the server answered. */
const examine = async (
	{io, connection, options}: Context<Options>,
	organizations: readonly string[],
	add: (findings: readonly Finding[]) => Promise<void>,
): Promise<boolean> => {
	const caches = options.public ? publicCachesOf(io.env) : null;
	const signal = io.interruption;
	const clock = createClock(0);
	const server = connection.server();
	const {isReachable, findings} = await reachServer(server.baseUrl, {signal, clock});
	await add([findingsOf('Server').ok('server.address', nameOf(server)), ...findings]);
	if (!isReachable) {
		if (server.isOwn) {
			const found = await examineThisMachine(io);
			await add(found);
			await add(caches === null ? [] : await askForNewerPostgres(found, caches.postgres, signal));
		}

		return false;
	}

	const answer = await askServer(connection, organizations);
	await add(answer.findings);
	await add(caches === null ? [] : await askForNewerPostgres(answer.findings, caches.postgres, signal));
	if (answer.publicUrl !== null) {
		await add(await examinePublicUrl(answer.publicUrl, {from: server.baseUrl, signal, clock}));
	}

	const look = async (host: LinkHost) => {
		const areas = await Promise.all([
			examineHost(host, {signal, clock}),
			caches === null ? [] : askPublicCaches(host, caches, signal),
		]);
		return areas.flat();
	};
	for await (const findings of inParallel(answer.hosts, PARALLEL_HOSTS, look)) {
		await add(findings);
	}

	signal.throwIfAborted();
	return true;
};

export const doctorCommand = command({
	usage: 'doctor [orgs...]',
	summary: 'Check the server, its providers and link domains',
	about: 'Checks the database, the providers, the public URL, and DNS, TLS and association files of link domains.',
	examples: ['doctor', 'doctor Ab12 --public --strict --json'],
	options: [
		new Option('--org <org>', 'id or orgKey of an organization (repeatable)').argParser(collect),
		strictOption(),
		new Option(
			'--public',
			"also ask Apple's CDN and Google's verifier, as phones do, and postgresql.org for a newer release",
		),
	],
	run: async (context: Context<Options>, organizations: string[]) => {
		const report = createReport(context);
		const isReachable = await examine(context, [...organizations, ...(context.options.org ?? [])], report.add);
		const exitCode = await report.finish(context.options);
		return isReachable ? exitCode : exitCodes.unreachable;
	},
});

export const dashboardCommand = command({
	usage: 'dashboard [org]',
	summary: 'Watch clicks, matches and events live',
	about: 'Without a terminal, prints them once.',
	examples: ['dashboard', 'dashboard --org Ab12 --json'],
	options: [new Option('--org <org>', 'id or orgKey of an organization (default: all)')],
	run: async (context) => {
		// Loaded lazily: ink is needed only here.
		const {runDashboard} = await import('../dashboard/run-dashboard.tsx');
		return runDashboard(context, context.options.org);
	},
});

export const serveCommand = command({
	usage: 'serve',
	summary: 'Run the server until Ctrl-C or SIGTERM',
	examples: ['serve', 'serve --help'],
	run: async ({io}) => {
		const {serve} = await import('../../start/serve.ts');
		return serve(io.env as NodeJS.ProcessEnv);
	},
});

export const configCommand = command({
	usage: 'config',
	summary: 'List and check the environment variables',
	about: 'Secrets are masked.',
	examples: ['config', 'config --json'],
	run: async ({io, show}) => {
		const [{loadConfig}, {describeConfig}, {readSecrets}, {secretNames}] = await Promise.all([
			import('../../platform/config/config.ts'),
			import('../../platform/config/describe-config.ts'),
			import('../../platform/config/secrets.ts'),
			import('../../platform/config/variables.ts'),
		]);
		const secrets = readSecrets(io.env, secretNames);
		await show.answer(describeConfig(io.env, secrets, process.execArgv), (variables) =>
			show.table(
				[
					{title: 'VARIABLE', value: ({name}) => name},
					{
						title: 'VALUE',
						value: ({value, default: fallback, from}) =>
							value === null
								? fallback && `(${fallback})`
								: [value, ...(from === null ? [] : [`from ${from}`])].join(' '),
						flexible: true,
					},
					{title: 'MEANING', value: ({meaning}) => meaning, flexible: true, wide: true},
				],
				variables,
			),
		);
		if (!show.isWide && !show.json) {
			await show.note('oplink help environment says what each means');
		}

		for (const warning of loadConfig(io.env, {secrets}).warnings) {
			await show.note(`Warning: ${warning}`);
		}
	},
});

export const statusCommand = command({
	usage: 'status',
	summary: 'Show the status of the server',
	examples: ['status', 'status --url https://links.example.com --json'],
	run: async ({connection, show}) =>
		show.fields(await connection.admin().get<object>('/admin/status'), (status) => [
			['server', nameOf(connection.server())],
			...flattened(status),
		]),
});
