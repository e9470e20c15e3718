import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test from 'ava';
import {Webhook} from 'standardwebhooks';
import {packageRoot} from '../../../src/platform/package-root.ts';
import {findProgram} from '../../helpers/find-program.ts';
import {freePort} from '../../setup/free-port.ts';

const secret = `whsec_${Buffer.from('thirty-two bytes of a test secret').toString('base64')}`;
const body = JSON.stringify({type: 'match.missed', data: {reason: 'no_click', city: 'Malmö'}});

const receivers: Array<[file: string, program: string | null, args: string[]]> = [
	['receiver.mjs', process.execPath, []],
	['receiver.py', findProgram('/usr/bin/python3'), []],
	['receiver.go', findProgram('/usr/bin/go'), ['run']],
];

for (const [file, program, args] of receivers) {
	(program === null ? test.skip : test)(`docs/webhooks/${file} takes what is signed, and nothing else`, async (t) => {
		const port = await freePort();
		const home = await mkdtemp(path.join(tmpdir(), 'receiver-'));
		const child = spawn(program as string, [...args, path.join(packageRoot, 'docs/webhooks', file)], {
			env: {PATH: process.env['PATH'], HOME: home, SECRET: secret, PORT: String(port)},
			stdio: ['ignore', 'pipe', 'inherit'],
			detached: true,
		});
		t.teardown(async () => {
			// `go run` is the parent of the receiver.
			process.kill(-(child.pid as number), 'SIGKILL');
			await rm(home, {recursive: true, force: true});
		});
		await once(child.stdout, 'data');
		const post = async (headers: Record<string, string>, sent = body) =>
			(await fetch(`http://127.0.0.1:${port}/oplink`, {method: 'POST', headers, body: sent})).status;
		const signed = (at: Date, key = secret) => ({
			'webhook-id': 'msg_1',
			'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
			'webhook-signature': new Webhook(key).sign('msg_1', at, body),
		});
		const now = new Date();
		const own = signed(now);
		t.is(await post({...own, 'webhook-signature': `v1,b3RoZXI= ${own['webhook-signature']}`}), 204);
		t.is(await post(own, body.replace('no_click', 'consumed')), 401);
		t.is(await post(signed(now, `whsec_${Buffer.from('another secret of a receiver').toString('base64')}`)), 401);
		t.is(await post(signed(new Date(now.getTime() - 600_000))), 401);
		t.is(await post({}), 401);
	});
}
