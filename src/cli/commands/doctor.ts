import {Option} from 'commander';
import type {LinkHost} from '../../operations/doctor/hosts.ts';
import {type Finding, findingsOf} from '../../operations/finding.ts';
import {createClock} from '../../platform/clock.ts';
import {type Context, command} from '../command.ts';
import {askServer, reachServer} from '../doctor/ask-server.ts';
import {examineHost} from '../doctor/examine-host.ts';
import {examinePublicUrl} from '../doctor/examine-public-url.ts';
import {askPublicCaches, publicCachesOf} from '../doctor/public-caches.ts';
import {askForNewerPostgres} from '../doctor/public-postgres.ts';
import {createReport, strictOption} from '../doctor/report.ts';
import {examineThisMachine} from '../doctor/this-machine.ts';
import {exitCodes} from '../exit-codes.ts';
import {inParallel} from '../import/in-parallel.ts';
import {collect} from '../link-fields.ts';
import {nameOf} from '../server/chosen-server.ts';

type Options = {org?: string[]; strict?: boolean; public?: boolean};

const PARALLEL_HOSTS = 8;

/** Prints findings by area as they arrive, those of hosts last. @returns whether the server answered. */
async function* examine(
	{io, connection, options}: Context<Options>,
	organizations: readonly string[],
): AsyncGenerator<Finding[], boolean> {
	const caches = options.public ? publicCachesOf(io.env) : null;
	const signal = io.interruption;
	const clock = createClock(0);
	const server = connection.server();
	const {isReachable, findings} = await reachServer(server.baseUrl, {signal, clock});
	yield [findingsOf('Server').ok('server.address', nameOf(server)), ...findings];
	if (!isReachable) {
		if (server.isOwn) {
			const found = await examineThisMachine(io);
			yield found;
			yield caches === null ? [] : await askForNewerPostgres(found, caches.postgres, signal);
		}

		return false;
	}

	const answer = await askServer(connection, organizations);
	yield answer.findings;
	yield caches === null ? [] : await askForNewerPostgres(answer.findings, caches.postgres, signal);
	if (answer.publicUrl !== null) {
		yield await examinePublicUrl(answer.publicUrl, {from: server.baseUrl, signal, clock});
	}

	const look = async (host: LinkHost) => {
		const areas = await Promise.all([
			examineHost(host, {signal, clock}),
			caches === null ? [] : askPublicCaches(host, caches, signal),
		]);
		return areas.flat();
	};
	yield* inParallel(answer.hosts, PARALLEL_HOSTS, look);
	signal.throwIfAborted();
	return true;
}

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
		const areas = examine(context, [...organizations, ...(context.options.org ?? [])]);
		let step = await areas.next();
		for (; !step.done; step = await areas.next()) {
			await report.add(step.value);
		}

		const exitCode = await report.finish(context.options);
		return step.value ? exitCode : exitCodes.unreachable;
	},
});
