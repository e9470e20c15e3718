import {Option} from 'commander';
import {createClock} from '../../clock.ts';
import {type Finding, findingsOf, worstOf} from '../../doctor/finding.ts';
import type {LinkHost} from '../../doctor/hosts.ts';
import {type Context, command} from '../command.ts';
import {askServer} from '../doctor/ask-server.ts';
import {examineHost} from '../doctor/examine-host.ts';
import {reachServer} from '../doctor/reach-server.ts';
import {findingsText, summaryText} from '../doctor/report-text.ts';
import {examineThisMachine} from '../doctor/this-machine.ts';
import {exitCodes} from '../exit-codes.ts';
import {inParallel} from '../import/in-parallel.ts';
import {isLively, print} from '../terminal/io.ts';

type Options = {strict?: boolean};

/** Hosts checked concurrently. */
const PARALLEL_HOSTS = 8;

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
	yield* items;
}

/** Prints findings by area as they arrive, those of hosts last. @returns whether the server answered. */
async function* examine(
	{io, connection}: Context<Options>,
	organizations: readonly string[],
): AsyncGenerator<Finding[], boolean> {
	const signal = io.interruption;
	const clock = createClock(0);
	const server = connection.server();
	const {isReachable, findings} = await reachServer(server.baseUrl, {signal, clock});
	const from = server.profile === null ? '' : ` of profile '${server.profile}'`;
	yield [findingsOf('Server').ok('server.address', `${server.baseUrl}${from}`), ...findings];
	if (!isReachable) {
		if (server.isOwn) {
			yield await examineThisMachine(io);
		}

		return false;
	}

	const answer = await askServer(connection, organizations);
	yield answer.findings;
	const look = (host: LinkHost) => examineHost(host, {signal, clock});
	yield* inParallel(each(answer.hosts), PARALLEL_HOSTS, look);
	signal.throwIfAborted();
	return true;
}

export const doctorCommand = command({
	usage: 'doctor [orgs...]',
	summary: 'Check server, database, providers and link domains (DNS, TLS, association files) for problems',
	examples: ['doctor', 'doctor Ab12 --strict --json'],
	options: [new Option('--strict', 'warnings count as failures')],
	run: async (context: Context<Options>, organizations: string[]) => {
		const {io, options, show} = context;
		const style = {width: show.width, isColoured: isLively(io.stdout, io.env)};
		const findings: Finding[] = [];
		const areas = examine(context, organizations);
		let step = await areas.next();
		for (; !step.done; step = await areas.next()) {
			const before = findings.at(-1)?.area;
			findings.push(...step.value);
			if (!show.json) {
				// A continued area has its title already.
				const text = findingsText(step.value, style, before);
				await print(io, text);
			}
		}

		const verdict = worstOf(findings);
		await show.answer({status: verdict, findings}, () => `\n${summaryText(findings)}`);
		if (!step.value) {
			return exitCodes.unreachable;
		}

		return verdict === 'fail' || (verdict === 'warn' && options.strict) ? exitCodes.failed : exitCodes.ok;
	},
});
