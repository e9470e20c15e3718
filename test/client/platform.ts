import test from 'ava';
import {randomKey} from '../../src/client/retry.ts';
import {faultyServer} from './_faulty-server.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

test.serial('a random key is a UUID if the platform can create one', (t) => {
	t.regex(randomKey(), UUID);
});

for (const [platform, crypto] of Object.entries({'no crypto': undefined, 'no crypto.randomUUID': {}})) {
	test.serial(`with ${platform} a random key is still unique`, (t) => {
		const own = Object.getOwnPropertyDescriptor(globalThis, 'crypto') ?? {};
		t.teardown(() => Object.defineProperty(globalThis, 'crypto', own));
		Object.defineProperty(globalThis, 'crypto', {value: crypto, configurable: true});
		const keys = Array.from({length: 10_000}, randomKey);
		t.is(new Set(keys).size, keys.length);
		t.true(keys.every((key) => /^[0-9a-z]{20,255}$/.test(key)));
	});
}

test.serial('a fetch that comes after the client was made is used', async (t) => {
	const {oplink} = await faultyServer(t, ['drop']);
	const own = globalThis.fetch;
	t.teardown(() => {
		globalThis.fetch = own;
	});
	globalThis.fetch = async () => Response.json({matched: false, matchMethod: 'NONE'});
	t.deepEqual(await oplink.match(), {matched: false, matchMethod: 'NONE'});
});

test.serial('the default wait between attempts is in seconds', async (t) => {
	const started = performance.now();
	const {oplink, requests} = await faultyServer(t, ['drop', {status: 200}], {sleep: undefined});
	await oplink.match();
	t.is(requests.length, 2);
	t.true(performance.now() - started > 490);
});
