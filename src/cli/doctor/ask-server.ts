import {OplinkApiError} from '../../client/errors.ts';
import type {LinkHost} from '../../operations/doctor/hosts.ts';
import {compareClocks, type Finding, findingsOf} from '../../operations/finding.ts';
import type {Clock} from '../../platform/clock.ts';
import {reasonOf} from '../../platform/http/fetch-bounded.ts';
import {fieldsOf, parseJson} from '../../platform/http/untrusted-json.ts';
import {packageVersion} from '../../platform/package-root.ts';
import {OperatorError} from '../cli-errors.ts';
import type {Connection} from '../server/connection.ts';

const findings = findingsOf('Server');
const {ok, warn, fail} = findings;

const TIMEOUT_MS = 10_000;

/** The difference of the two clocks by the server's Date header; nothing without one. */
const judgeClock = (header: string | null, ours: {asked: Date; answered: Date}): Finding[] => {
	const read = new Date(header ?? Number.NaN);
	return Number.isNaN(read.getTime()) ? [] : [compareClocks(findings, 'server.clock', {read, ...ours}, 'this machine')];
};

const judgeReadiness = (status: number, text: string): Finding => {
	const body = fieldsOf(parseJson(text));
	if (status === 200 && body.status === 'ok') {
		return ok('server.ready', 'it answers and is ready');
	}

	const parts = typeof body.checks === 'object' && body.checks !== null ? Object.entries(body.checks) : [];
	const away = parts.filter(([, state]) => state !== 'ok').map(([name, state]) => `${name} ${state}`);
	return status === 503
		? fail(
				'server.ready',
				`it answers but is not ready: ${away.join(', ') || 'it is still starting'}`,
				'See the findings below, or its log',
			)
		: fail(
				'server.ready',
				`the server there (status ${status}) is not Oplink, or this is not its API host`,
				'Name the address of PUBLIC_URL with --url or oplink login',
			);
};

/** Whether the server answers, is ready, and agrees with our clock. */
export const reachServer = async (
	baseUrl: string,
	{signal, clock}: {signal: AbortSignal; clock: Clock},
): Promise<{isReachable: boolean; findings: Finding[]}> => {
	const asked = clock.now();
	try {
		const response = await fetch(`${baseUrl}/health/ready`, {
			redirect: 'manual',
			signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
		});
		const answered = clock.now();
		return {
			isReachable: true,
			findings: [
				judgeReadiness(response.status, await response.text()),
				...judgeClock(response.headers.get('date'), {asked, answered}),
			],
		};
	} catch (error) {
		signal.throwIfAborted();
		return {
			isReachable: false,
			findings: [
				fail(
					'server.reachable',
					`it does not answer: ${reasonOf(error)}`,
					'Start it with oplink serve, or name another one with --url or oplink login',
				),
			],
		};
	}
};

/** `publicUrl` is null if the server refuses, or is of another version. */
type Diagnosis = {findings: Finding[]; publicUrl: string | null; hosts: LinkHost[]};
type Answer = {version: string; publicUrl?: string; findings: Finding[]; hosts: LinkHost[]};

/** Whether server and program have the same version, since each relies on the other's behavior. */
export const judgeVersion = (server: string, own: string): Finding =>
	server === own
		? ok('server.version', `it has the same version as this program, ${own}`)
		: warn(
				'server.version',
				`it is version ${server}, this program ${own}`,
				`Use the CLI version of the server: npx oplink@${server}`,
			);

/** The finding for a refused or missing token, or a failed request. @throws other errors, and 404 for an organization. */
const refusalFinding = (error: unknown, organizations: readonly string[]): Finding => {
	if (error instanceof OperatorError) {
		return fail('server.token', error.message, error.nextStep ?? 'oplink login');
	}

	if (!(error instanceof OplinkApiError) || (error.status === 404 && organizations.length > 0)) {
		throw error;
	}

	switch (error.status) {
		case 401:
			return fail('server.token', 'it refuses the admin token', 'Log in with oplink login, or correct the token');
		case 403:
			return fail(
				'server.token',
				`it refuses this token: ${error.message}`,
				'Use a token of the preset support that is not bound to an organization',
			);
		default:
			return fail(
				'server.doctor',
				`its status cannot be read: ${error.message}`,
				'See its log; another version may not support this request',
			);
	}
};

/**
 * The server's own findings, and the addresses to examine from here. A refused or missing token is a finding.
 * @throws other errors, such as 404 for an unknown organization.
 */
export const askServer = async (connection: Connection, organizations: readonly string[]): Promise<Diagnosis> => {
	const query = new URLSearchParams(organizations.map((org): [string, string] => ['org', org]));
	try {
		const answer = await connection.admin().get<Answer>(`/admin/doctor${query.size === 0 ? '' : `?${query}`}`);
		return {
			findings: [
				ok('server.token', 'it accepts the admin token'),
				judgeVersion(answer.version, packageVersion()),
				...answer.findings,
			],
			publicUrl: answer.publicUrl ?? null,
			hosts: answer.hosts,
		};
	} catch (error) {
		return {findings: [refusalFinding(error, organizations)], publicUrl: null, hosts: []};
	}
};
