import test from 'ava';
import {send} from './helpers/callers.ts';
import {createTestDatabase} from './helpers/database.ts';
import {dataDirectory, oplink, ready} from './helpers/process.ts';

/** Has the process warn at a signal, as Node and packages do when they please. */
const preload = `data:text/javascript,process.on('SIGUSR2',()=>process.emitWarning('old%20ways',{code:'OLD'}))`;

test('a process warning is a log line like any other, and the server keeps running', async (t) => {
	const database = await createTestDatabase();
	t.teardown(() => database.drop());
	const {child, ended, printed, stderr} = oplink(t, ['serve'], {
		PORT: '0',
		DATA_DIR: await dataDirectory(t),
		DATABASE_URL: database.url,
		NODE_OPTIONS: `--import=${preload}`,
	});
	const [, url = ''] = await printed(ready);
	child.kill('SIGUSR2');
	await printed(/a warning of the process/);
	t.is((await send(url, 'GET', '/health/live')).status, 200);
	child.kill('SIGTERM');
	t.is(await ended, 0);

	const lines = stderr()
		.trim()
		.split('\n')
		.map((line) => JSON.parse(line));
	const warnings = lines.filter(({msg}) => msg === 'a warning of the process');
	t.is(warnings.length, 1);
	const [{level, err}] = warnings;
	t.like({level, ...err}, {level: 'warn', message: 'old ways', code: 'OLD'});
});
