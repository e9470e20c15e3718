import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {addressesOf} from '../../src/links/links/link-safety.ts';
import {LinkPolicy} from '../../src/platform/policy/link-policy.ts';

/**
 * Memory of a list of 2,000,000 hosts, the time of a look-up, and the time in which the addresses of 1,000,000 links are
 * judged. Run it by `node --expose-gc --import tsx bench/performance/link-policy.ts`.
 */
const HOSTS = 2_000_000;
const LINKS = 1_000_000;

const used = (): number => {
	globalThis.gc?.();
	const {heapUsed, arrayBuffers} = process.memoryUsage();
	return heapUsed + arrayBuffers;
};

const folder = await mkdtemp(path.join(tmpdir(), 'oplink-policy-'));
try {
	const hosts = Array.from({length: HOSTS}, (_, index) => `||host-${index}.bad${index % 977}.example^`);
	await writeFile(path.join(folder, 'list.txt'), `${hosts.join('\n')}\n`);
	hosts.length = 0;
	const file = path.join(folder, 'policy.json');
	await writeFile(file, JSON.stringify([{name: 'List', file: 'list.txt', format: 'domains', action: 'block'}]));

	const before = used();
	const started = performance.now();
	const policy = await LinkPolicy.open(file, {info: () => {}, error: () => {}});
	const read = performance.now() - started;
	const megabytes = (used() - before) / 2 ** 20;

	const judged = performance.now();
	let blocked = 0;
	for (let index = 0; index < LINKS; index += 1) {
		const url =
			index % 1000 === 0 ? `https://host-${index}.bad${index % 977}.example/` : `https://www.shop-${index}.example/`;
		const link = {fallback_url: url, destinations: {ios: `${url}ios`}, og_image_url: null};
		blocked += policy.ofAll(addressesOf(link))?.state === 'block' ? 1 : 0;
	}

	const seconds = (performance.now() - judged) / 1000;
	console.log(
		`${HOSTS.toLocaleString('en')} hosts: read in ${(read / 1000).toFixed(1)} s, ${megabytes.toFixed(0)} MB; ` +
			`${LINKS.toLocaleString('en')} links with two addresses judged in ${seconds.toFixed(1)} s (${((seconds / LINKS / 2) * 1e6).toFixed(1)} µs an address), ${blocked} blocked`,
	);
} finally {
	await rm(folder, {recursive: true, force: true});
}
