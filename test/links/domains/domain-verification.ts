import test from 'ava';
import {link} from '../../helpers/builders.ts';
import {domainStage, freshHost} from './_domains.ts';

const {stage, setup, statusOn} = domainStage(test);

test('verification requires the record, reports what it found, and is permanent', async (t) => {
	const {add, act} = await setup();
	const {id, hostname, verification} = await add();

	const nothing = await act(id, 'verify');
	t.is(nothing.status, 409);
	t.true(nothing.body.message.includes(verification.name) && nothing.body.message.includes(verification.value));
	t.regex(nothing.body.message, /The name has no TXT record\.$/);

	stage.dns.setTxt(verification.name, 'v=spf1 -all', `${verification.value}x`);
	const wrong = await act(id, 'verify');
	t.is(wrong.status, 409);
	t.true(wrong.body.message.includes("'v=spf1 -all'"));
	t.is(await statusOn(hostname, '/nope'), 404);

	stage.dns.setTxt(verification.name, 'v=spf1 -all', verification.value);
	const verified = await act(id, 'verify');
	t.is(verified.status, 200);
	t.like(verified.body, {id, hostname, status: 'VERIFIED', isDefault: false, verification});

	stage.dns.setTxt(verification.name);
	t.is((await act(id, 'verify')).status, 200);
});

test('DNS that does not answer is 502 and leaves the domain PENDING; an answer that takes a second is waited for', async (t) => {
	const {base, operator, add, act} = await setup();
	const {id, verification} = await add();
	stage.dns.fail(verification.name);
	const failed = await act(id, 'verify');
	t.is(failed.status, 502);
	t.is(failed.body.message, `The DNS lookup of ${verification.name} failed`);
	t.is((await operator.get(base)).body.data[0].status, 'PENDING');
	stage.dns.fail(verification.name, false);
	// The name server is quick at first.
	for (let quick = 0; quick < 5; quick += 1) {
		t.is((await act(id, 'verify')).status, 409);
	}

	stage.dns.setTxt(verification.name, verification.value);
	stage.dns.delay(verification.name, 1200);
	t.is((await act(id, 'verify')).status, 200);
});

test('of two organizations that prove one hostname at once, one gets it', async (t) => {
	const [one, two] = [await setup(), await setup()];
	const hostname = freshHost();
	const [mine, theirs] = [await one.add(hostname), await two.add(hostname)];
	stage.dns.setTxt(`_oplink.${hostname}`, mine.verification.value, theirs.verification.value);
	const answers = await Promise.all([one.act(mine.id, 'verify'), two.act(theirs.id, 'verify')]);
	t.deepEqual(answers.map(({status}) => status).sort(), [200, 409]);
	const loser = answers[0]?.status === 409 ? one.act(mine.id, 'approve') : two.act(theirs.id, 'approve');
	t.is((await loser).status, 409);
});

test('a rejected domain stops serving at once, and is verified again only after an approval', async (t) => {
	const {org, approved, act} = await setup();
	const {id, hostname, verification} = await approved();
	const {shortCode} = await link(org, {domainId: id});
	t.is(await statusOn(hostname, `/${org.orgKey}/${shortCode}`), 200);

	const rejected = await act(id, 'reject');
	t.is(rejected.status, 200);
	t.is(rejected.body.status, 'REJECTED');
	t.is(await statusOn(hostname, `/${org.orgKey}/${shortCode}`), 404);
	stage.dns.setTxt(verification.name, verification.value);
	t.is((await act(id, 'verify')).status, 409);

	const again = await act(id, 'approve');
	t.like(again.body, {id, status: 'VERIFIED'});
	t.is((await act(id, 'verify')).status, 200);
	t.is(await statusOn(hostname, `/${org.orgKey}/${shortCode}`), 200);
});

test('a rejected name stays rejected, removed and added again and for every organization, until it is approved', async (t) => {
	const hostname = freshHost();
	const [acme, globex] = [await setup(), await setup()];
	const waiting = await globex.add(hostname);
	const {id} = await acme.approved(hostname);
	stage.dns.setTxt(`_oplink.${hostname}`, waiting.verification.value);
	await acme.act(id, 'reject');

	// What another organization had added before can prove the name and is refused all the same.
	const proved = await globex.act(waiting.id, 'verify');
	t.is(proved.status, 409);
	t.is(proved.body.message, 'The domain was rejected by the operator and cannot be verified');
	t.is((await acme.operator.delete(`${acme.base}/${id}`)).status, 200);
	for (const {add, act} of [acme, await setup()]) {
		const again = await add(hostname);
		t.is(again.status, 'REJECTED');
		stage.dns.setTxt(`_oplink.${hostname}`, again.verification.value);
		t.is((await act(again.id, 'verify')).status, 409);
	}

	t.is(await statusOn(hostname, '/.well-known/assetlinks.json'), 404);
	t.is((await globex.act(waiting.id, 'approve')).body.status, 'VERIFIED');
	await globex.operator.delete(`${globex.base}/${waiting.id}`);
	t.is((await (await setup()).add(hostname)).status, 'PENDING');
});

test('rejecting a pending name does not affect the organization that has verified it', async (t) => {
	const hostname = freshHost();
	const [acme, globex] = [await setup(), await setup()];
	const attempt = await globex.add(hostname);
	const {id} = await acme.approved(hostname);
	t.is((await globex.act(attempt.id, 'reject')).body.status, 'REJECTED');
	t.is((await acme.operator.get(acme.base)).body.data[0].status, 'VERIFIED');
	t.is((await acme.operator.delete(`${acme.base}/${id}`)).status, 200);
	t.is((await acme.add(hostname)).status, 'PENDING');
});
