import {describeConfig} from '../../config/variables.ts';
import {keyValues} from '../terminal/output.ts';

const WIDTH = 80;
const INDENT = 2;

/** Variables that the program itself reads. */
const ownVariables: Array<[string, string]> = [
	['OPLINK_URL', 'address of the server, like --url'],
	['OPLINK_ADMIN_TOKEN', 'admin token, like --token but not visible in the process list'],
	['OPLINK_PROFILE', 'profile to use, like --profile'],
	['OPLINK_API_KEY', 'SERVER key for links and qr, like --api-key'],
	['XDG_CONFIG_HOME', 'folder of oplink/profiles.json, which login writes (default: ~/.config)'],
	['NO_COLOR', 'any value: no colour or animation, even on a terminal'],
];

const listed = (pairs: Array<[string, string]>): string =>
	keyValues(pairs, WIDTH - INDENT)
		.split('\n')
		.map((line) => ' '.repeat(INDENT) + line)
		.join('\n');

export const environmentTopic = `The program reads:

${listed(ownVariables)}

Server and token come from the first of these that is set:

  1. --url and --token; or --profile
  2. OPLINK_URL and OPLINK_ADMIN_TOKEN; or OPLINK_PROFILE
  3. the profile in use (oplink login, oplink profiles use)
  4. the server of this machine: PUBLIC_URL, or localhost and PORT, with
     ADMIN_TOKEN, or the token that it keeps in DATA_DIR

The token of a profile is sent only to the URL of that profile.

The server (serve, migrate, config; doctor where no server answers) reads:

${listed(describeConfig({}).map(({name, meaning, default: fallback}) => [name, fallback ? `${meaning} (${fallback})` : meaning]))}

'oplink config' shows the values that a server would read from this environment,
and any errors. A running server keeps the values it started with.`;
