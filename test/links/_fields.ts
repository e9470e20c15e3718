import {admin} from '../helpers/callers.ts';
import type {TestService} from '../helpers/service.ts';

/** A value of each field that links and templates have, but of the path. */
export const sharedFields = {
	params: {campaign: 'spring', empty: ''},
	og: {title: 'Sale', description: 'Half the price', imageUrl: 'http://img.example.com/a.png'},
	fallbackUrl: 'https://www.example.com/a%20b',
	channel: 'email',
	tags: ['sale', 'spring'],
	utmSource: 'a',
	utmMedium: 'b',
	utmCampaign: 'c',
	utmTerm: 'd',
	utmContent: 'e',
	deferredDeepLinking: false,
	matchWindowHours: 720,
};

/** A custom domain of an organization, approved by the operator. */
export const approvedDomain = async (service: TestService, {id}: {id: string}, hostname: string) => {
	const domains = `/admin/organizations/${id}/domains`;
	const {body} = await admin(service).post(domains, {hostname});
	const {status} = await admin(service).post(`${domains}/${body.id}/approve`);
	return status === 200 ? (body as {id: string}) : Promise.reject(new Error(`the domain was not approved: ${status}`));
};
