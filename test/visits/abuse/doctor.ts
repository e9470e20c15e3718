import test from 'ava';
import {approvedDomain, link, organization} from '../../helpers/builders.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import type {TestService} from '../../helpers/service.ts';
import {policedService} from './_policed.ts';

type Found = {check: string; status: string; message: string};

const findings = async (service: TestService): Promise<string[]> => {
	const {body} = await admin(service).get('/admin/doctor');
	return (body.findings as Found[])
		.filter(({check}) => check.startsWith('abuse.'))
		.map(({check, status, message}) => `${status} ${check}: ${message}`);
};

test('doctor warns of a report that is open for two days, and no longer once it is closed', async (t) => {
	const {service} = await policedService(t, {ABUSE_CONTACT: 'mailto:abuse@example.com'});
	const reports = async () => (await findings(service)).filter((one) => one.includes('abuse.reports'));
	t.deepEqual(await reports(), ['ok abuse.reports: none is open']);
	const {url} = await link(await organization(service));
	await anonymous(service).post('/report', {link: url, reason: 'spam'});
	t.deepEqual(await reports(), ['ok abuse.reports: 1 open, the oldest since 2026-03-10']);
	service.clock.advance(2 * 24 * 3600);
	t.deepEqual(await reports(), ['warn abuse.reports: 1 open, the oldest since 2026-03-10']);
	const [{id}] = (await admin(service).get('/admin/reports')).body.data;
	await admin(service).post(`/admin/reports/${id}/close`);
	t.deepEqual(await reports(), ['ok abuse.reports: none is open']);
});

test('doctor fails for a list whose file became unusable, and for hosts of ours on a list', async (t) => {
	const {service, change} = await policedService(t, {
		LINK_DOMAIN: 'go.links.test',
		LINK_DOMAIN_ALIASES: 'old.links.test',
		PUBLIC_URL: 'https://api.links.test',
	});
	const acme = await organization(service, {plan: 'SCALE'});
	await approvedDomain(acme, 'go.acme.test');
	const failures = async () => (await findings(service)).filter((one) => one.startsWith('fail'));
	t.deepEqual(await failures(), []);

	await change('bad.txt', '');
	const [fault = '', ...others] = await failures();
	t.deepEqual(others, []);
	t.regex(fault, /^fail abuse\.lists: the list Bad \(.*bad\.txt\) is empty; its former contents are in use$/);

	await change('bad.txt', 'links.test\n');
	await change('odd.txt', 'go.acme.test\n');
	t.deepEqual(await failures(), [
		'fail abuse.listed-host: the link host go.links.test is on the list Bad: browsers may warn of its links',
		'fail abuse.listed-host: the link host old.links.test is on the list Bad: browsers may warn of its links',
		'fail abuse.listed-host: the link host go.acme.test is on the list Odd: browsers may warn of its links',
	]);
	const {body: all} = await admin(service).get('/admin/doctor');
	const urls = all.hosts.map(({url}: {url: string}) => url);
	t.deepEqual(urls, ['https://go.links.test', 'https://old.links.test', 'https://go.acme.test']);

	await change('policy.json', '{"name"');
	t.regex(
		(await failures())[0] ?? '',
		/^fail abuse\.lists: \/\S+\/policy\.json: .*JSON.*; its former contents are in use$/,
	);
});
