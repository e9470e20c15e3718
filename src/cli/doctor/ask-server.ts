import {OplinkApiError} from '../../client/errors.ts';
import {type Finding, findingsOf} from '../../doctor/finding.ts';
import type {LinkHost} from '../../doctor/hosts.ts';
import {packageVersion} from '../../package-root.ts';
import {OperatorError} from '../cli-errors.ts';
import type {Connection} from '../server/connection.ts';

const {ok, warn, fail} = findingsOf('Server');

/** The answer of `GET /admin/doctor`. */
type Answer = {version: string; findings: Finding[]; hosts: LinkHost[]};

/** Whether server and program have the same version, since each relies on the other's behavior. */
export const judgeVersion = (server: string, own: string): Finding =>
	server === own
		? ok('server.version', `it has the same version as this program, ${own}`)
		: warn(
				'server.version',
				`it is version ${server}, this program ${own}`,
				`Use the CLI version of the server: npx oplink@${server}`,
			);

/**
 * The server's own findings, and the hosts to examine from here. A refused or missing token is a finding.
 * @throws other errors, such as 404 for an unknown organization.
 */
export const askServer = async (
	connection: Connection,
	organizations: readonly string[],
): Promise<{findings: Finding[]; hosts: LinkHost[]}> => {
	const query = new URLSearchParams(organizations.map((org): [string, string] => ['org', org]));
	try {
		const answer = await connection.admin().get<Answer>(`/admin/doctor${query.size === 0 ? '' : `?${query}`}`);
		return {
			findings: [
				ok('server.token', 'it accepts the admin token'),
				judgeVersion(answer.version, packageVersion()),
				...answer.findings,
			],
			hosts: answer.hosts,
		};
	} catch (error) {
		if (error instanceof OperatorError) {
			return {findings: [fail('server.token', error.message, error.nextStep ?? 'oplink login')], hosts: []};
		}

		if (!(error instanceof OplinkApiError) || (error.status === 404 && organizations.length > 0)) {
			throw error;
		}

		const refused = fail(
			'server.token',
			'it refuses the admin token',
			'Log in with oplink login, or correct the token',
		);
		const other = fail(
			'server.doctor',
			`its status cannot be read: ${error.message}`,
			'See its log; another version may not support this request',
		);
		return {findings: [error.status === 401 ? refused : other], hosts: []};
	}
};
