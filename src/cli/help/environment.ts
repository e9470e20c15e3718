import {describeConfig} from '../../config/variables.ts';
import {keyValues} from '../terminal/output.ts';

const WIDTH = 80;
const INDENT = 2;

/** What the program itself reads, wherever it runs. */
const ownVariables: Array<[string, string]> = [
	['OPLINK_URL', 'address of the server, as --url'],
	['OPLINK_ADMIN_TOKEN', 'admin token, as --token but in no list of processes'],
	['OPLINK_PROFILE', 'profile to use, as --profile'],
	['OPLINK_API_KEY', 'SERVER key for links and qr, as --api-key'],
	['XDG_CONFIG_HOME', 'folder of oplink/profiles.json, which login writes; unset: ~/.config'],
	['NO_COLOR', 'anything: neither colour nor animation, also on a terminal'],
];

const listed = (pairs: Array<[string, string]>): string =>
	keyValues(pairs, WIDTH - INDENT)
		.split('\n')
		.map((line) => ' '.repeat(INDENT) + line)
		.join('\n');

export const environmentTopic = `The program reads:

${listed(ownVariables)}

What is nearer decides which server a command speaks to, and with which token:

  1. --url and --token; or --profile
  2. OPLINK_URL and OPLINK_ADMIN_TOKEN; or OPLINK_PROFILE
  3. the profile in use (oplink login, oplink profiles use)
  4. the server of this machine: PUBLIC_URL, or localhost and PORT, with
     ADMIN_TOKEN, or the token that it keeps in DATA_DIR

The token of a profile goes to the URL of that profile and nowhere else.

The server (serve, migrate, config; doctor where no server answers) reads:

${listed(describeConfig({}).map(({name, meaning, default: fallback}) => [name, fallback ? `${meaning} (${fallback})` : meaning]))}

'oplink config' shows what a server with this environment would get, and what is
wrong with it. A running one keeps what it was started with.`;
