import {configTable} from '../src/platform/config/variables.ts';

const NOTE = `# Every variable that Oplink reads, with its default. \`oplink config\`, in the same environment, shows what the server gets.
# A secret may be in a file instead: NAME_FILE names it (docs/operating/production.md).
# npm start reads the file .env; elsewhere: node --env-file=.env bin/oplink.js serve
# Written by \`npm run docs:env\` from src/platform/config/variables.ts.
`;

/** What .env.example has to be: uncommented, a line is the default. So a default in words stands with the meaning. */
export const envExample = (): string =>
	[
		NOTE,
		...configTable.map(({name, meaning, fallback, fallbackInWords}) => {
			const what = fallbackInWords === null ? meaning : `${meaning} (${fallbackInWords})`;
			return `# ${what}\n# ${name}=${fallback ?? ''}\n`;
		}),
	].join('\n');
