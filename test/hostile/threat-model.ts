import {existsSync, readFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {packageRoot} from '../../src/package-root.ts';

const lines = readFileSync(path.join(packageRoot, 'docs/security.md'), 'utf8')
	.split('\n')
	.filter((line) => line.startsWith('| ') && !line.startsWith('| threat '));

test('every line of the threat model names a test, and each of them is there', (t) => {
	t.true(lines.length > 30);
	for (const line of lines) {
		const named = [...line.matchAll(/`(test\/[\w./-]+)`/g)].map(([, name = '']) => name);
		t.not(named.length, 0, line);
		t.deepEqual(
			named.filter((name) => !existsSync(path.join(packageRoot, name))),
			[],
			line,
		);
	}
});
