import {readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {routes} from '../src/routes.ts';

/** `npm run routes`: method, path, credential, and the file and line that declares the route, found by its summary. */
const root = path.resolve(import.meta.dirname, '..');
const lines = readdirSync(path.join(root, 'src'), {recursive: true, encoding: 'utf8'})
	.filter((name) => name.endsWith('routes.ts'))
	.flatMap((name) =>
		readFileSync(path.join(root, 'src', name), 'utf8')
			.split('\n')
			.map((text, index) => ({text, place: `src/${name}:${index + 1}`})),
	);

/** A summary that a function makes has a `${…}`, so its line is found by what the texts have in common. */
const placeOf = (summary: string): string => {
	const found = lines.find(({text}) => {
		const [, written] = /\bsummary: ['"`](.*)['"`],?/.exec(text) ?? [];
		const parts = written?.split(/\$\{[^}]*\}/) ?? [];
		return written !== undefined && summary.startsWith(parts[0] ?? '') && summary.endsWith(parts.at(-1) ?? '');
	});
	return found?.place ?? '';
};

for (const {method, path: full, credential, declared} of routes) {
	console.log(`${method.padEnd(7)}${full.padEnd(64)}${credential.padEnd(10)} ${placeOf(declared.summary)}`);
}
