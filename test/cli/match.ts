import test from 'ava';
import {link, organization} from '../helpers/builders.ts';
import {iPhoneApp, network, open, userAgents, visit} from '../visits/matches/_phones.ts';
import {attemptsOf, shows, widest} from './_match.ts';
import {ends} from './_run-cli.ts';
import {serviceCli} from './_service-cli.ts';

const {cli, json, onScreen, service} = serviceCli(test);

/** An organization with a link, and the addresses of a place. */
const setUp = async (fields: object = {}) => {
	const acme = await organization(service);
	return {acme, place: network(), sale: await link(acme, fields)};
};

test('match explain shows the answer, the candidates with probabilities, and reasons of exclusion, within the terminal’s width', async (t) => {
	const {acme, place, sale} = await setUp({shortCode: `summer-sale-${'x'.repeat(50)}`});
	const other = await link(acme, {shortCode: 'other'});
	await visit(service, other, place(1), {language: 'fr-FR', timezone: 'Europe/Paris'});
	await visit(service, other, place(1), {userAgent: userAgents.android});
	await visit(service, sale, place(1));
	await open(service, place(1), {...iPhoneApp, deviceId: 'device-0001'}, acme);
	const [attempt] = await attemptsOf(acme);
	const {stdout} = ends(t, await onScreen(`match explain ${attempt.id}`), 0);
	shows(t, stdout, {
		device: 'device-0001',
		signals: 'iOS 17.5.1, iPhone15,2, en-US, America/New_York',
		'came over': 'IPv4, with the CLIENT key',
		answer: 'fingerprint (FINGERPRINT_EXACT), medium, probability 99 %',
		path: '/sale',
		params: '-',
		link: sale.url,
		'runner-up': `${other.url}, 0 %`,
	});
	t.regex(stdout, /^path +\/sale\nparams +-\n\nasked /);
	t.regex(stdout, /^LINK +CLICKED +% +ADDR +PLAT +MODEL +OS +ZONE +LANG +ALIKE +RULED OUT$/m);
	t.regex(stdout, /^summer-sale-\S*… +0s +99 +40 +5 +0 +15 +15 +10 +0\/0 +-$/m);
	t.regex(stdout, /^other +0s +0 +40 +5 +0 +15 +-25 +-10 +0\/0 +-$/m);
	t.regex(stdout, /^other +0s +0 +40 +0 +0 +0 +15 +10 +0\/0 +platform$/m);
	t.regex(
		stdout.replaceAll('\n', ' '),
		/Probability that this click led to the install: 98.9 %; that one on another link did: 0.0 %; that no click did: 1.1 %\. No phones of this app have been counted yet; 3 clicks were made here in 24 hours\./,
	);
	t.regex(stdout, /^platform: the click was made on another platform$/m);
	const longest = sale.url.length + 'install referrer  '.length;
	t.true(widest(stdout.replace(sale.url, '')) <= 80, stdout);
	t.true(widest(stdout) <= longest);
	t.deepEqual(await json(`match explain ${attempt.id} --org ${acme.id}`), attempt);
});

test.serial('match explain says that no token came, where most matches of the app are by token', async (t) => {
	const {acme, place, sale} = await setUp();
	for (const device of [1, 2, 3, 4, 5]) {
		const {token} = await visit(service, sale, place(device));
		await open(service, place(device), {...iPhoneApp, clipboardToken: token, deviceId: `device-100${device}`}, acme);
	}

	await service.services.background.settle();
	service.clock.advance(60);
	await visit(service, sale, place(9));
	await open(service, place(9), {...iPhoneApp, deviceId: 'device-1009'}, acme);
	const [guessed, byToken] = await attemptsOf(acme);
	const words = /No token came with the open\. Of the last matches on its platform about 67 % had none/;
	const explain = async (attempt: {id: string}) =>
		(await cli(`match explain ${attempt.id} --org ${acme.orgKey}`)).stdout.replaceAll('\n', ' ');
	t.regex(await explain(guessed), words);
	t.notRegex(await explain(byToken), words);
});

test('match explain says that clicks of one link decided together, as after many test taps of an office', async (t) => {
	const {acme, place, sale} = await setUp();
	for (let tap = 0; tap < 3; tap += 1) {
		await visit(service, sale, place(1));
	}

	await open(service, place(1), {...iPhoneApp, deviceId: 'device-0006'}, acme);
	const [attempt] = await attemptsOf(acme);
	const [best] = attempt.candidates;
	t.true(best.score < attempt.score);
	const {stdout} = await onScreen(`match explain ${attempt.id} --org ${acme.orgKey}`);
	let together = 0;
	for (const {probability} of attempt.candidates) {
		together += probability;
	}

	const percent = (100 * together).toFixed(1);
	const said = `Probability that a click on this link led to the install: ${percent} %; that no click did`;
	t.true(stdout.replaceAll('\n', ' ').includes(said), stdout);
});

test('match explain shows the meaning and the next step of a miss', async (t) => {
	const {acme, place, sale} = await setUp();
	await visit(service, sale, place(1));
	await open(service, place(1), {...iPhoneApp, osVersion: '16.1'}, acme);
	const [attempt] = await attemptsOf(acme);
	const {stdout} = await cli(`match explain ${attempt.id} --org ${acme.orgKey}`);
	shows(t, stdout, {answer: 'no match: ruled out (ruled_out)', path: undefined});
	t.regex(stdout, new RegExp(`^nearest +${sale.url}, 0 %`, 'm'));
	t.regex(stdout, /^The likeliest click cannot belong to this first open/m);
	t.regex(stdout, /^Next: Open the app on the phone that clicked/m);
	t.regex(stdout, /^older OS: the app's OS is older/m);
});

test('match explain works after a link was deleted', async (t) => {
	const {acme, place, sale} = await setUp();
	await visit(service, sale, place(1));
	await open(service, place(1), iPhoneApp, acme);
	await acme.server.delete(`/links/${sale.id}`);
	const [attempt] = await attemptsOf(acme);
	const {stdout} = ends(t, await cli(`match explain ${attempt.id} --org ${acme.orgKey}`), 0);
	shows(t, stdout, {link: `${sale.id} (deleted)`});
	// The id is all that is left of it, so it is whole on a terminal, too.
	const {stdout: screen} = await onScreen(`match explain ${attempt.id} --org ${acme.orgKey}`);
	for (const text of [stdout, screen]) {
		t.regex(text, new RegExp(`^${sale.id} +0s +`, 'm'));
	}
});

test('match list shows the newest attempts first, and an unknown one is not found', async (t) => {
	const {acme, place, sale} = await setUp();
	const {token} = await visit(service, sale, place(1));
	await open(service, place(1), {clipboardToken: token, deviceId: 'device-0002'}, acme);
	await open(service, place(9), {deviceId: 'device-0003'}, acme);
	const {stdout} = await cli(`match list --org ${acme.orgKey}`);
	const now = service.clock.now().toISOString().slice(0, 19).replace('T', ' ');
	const attempts: Array<{id: string; matched: boolean}> = await attemptsOf(acme);
	const lineOf = ({id, matched}: {id: string; matched: boolean}) =>
		`${now}  ${id}  ${matched ? `clipboard  exact       ${sale.shortCode}  device-0002` : 'no click   -           -        device-0003'}`;
	const title = 'AT (UTC)             ID                                    OUTCOME    CONFIDENCE  LINK     DEVICE';
	t.is(stdout, `${[title, ...attempts.map(lineOf)].join('\n')}\n`);
	const {stdout: screen} = await onScreen(`match list --org ${acme.orgKey}`);
	t.true(widest(screen) <= 80, screen);
	t.regex(screen, new RegExp(`^${now.slice(5, 16)} {2}\\S{36} {2}clipboard {2,}${sale.shortCode} {2}device-`, 'm'));
	t.like(await json(`match list --org ${acme.orgKey} --limit 1`), {total: 2, limit: 1});
	t.is((await cli(`match explain ${acme.id} --org ${acme.orgKey}`)).exitCode, 4);
	t.is((await cli(`match explain ${acme.id}`)).exitCode, 4);
});
