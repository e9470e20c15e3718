import {Readable} from 'node:stream';
import type {Organization} from '../../accounts/organizations/organization-store.ts';
import {pagesByKey} from '../../platform/db/batches.ts';
import {type Reply, type RequestFacts, reply, withLoggedFault} from '../../platform/http/route.ts';
import type {Services} from '../../services.ts';
import {createPersonalDataStore, type DataSubject, findSubject, type Read, subjectJson} from './personal-data-store.ts';

const BATCH = 500;

/** The items of a JSON array, in batches. */
async function* items(read: Read<{id: string}>): AsyncGenerator<string> {
	let separator = '';
	for await (const batch of pagesByKey<{id: string}>(BATCH, (last) => read(last?.id ?? null, BATCH))) {
		yield batch.length === 0 ? '' : `${separator}${batch.map((item) => JSON.stringify(item)).join(',')}`;
		separator = ',';
	}
}

async function* documentOf(head: Record<string, unknown>, sections: Record<string, Read<{id: string}>>) {
	yield JSON.stringify(head).slice(0, -1);
	for (const [name, read] of Object.entries(sections)) {
		yield `,${JSON.stringify(name)}:[`;
		yield* items(read);
		yield ']';
	}

	yield '}\n';
}

/**
 * All data of a device or a user of an organization, as one JSON document (GDPR, article 15), read in batches with
 * backpressure.
 * @throws 404 if there is none; 503 if the store of clicks is unavailable.
 */
export const exportPersonalData = async (
	services: Pick<Services, 'clicks' | 'clock' | 'db' | 'matchPeppers'>,
	{organization, subject, request}: {organization: Organization; subject: DataSubject; request: RequestFacts},
): Promise<Reply> => {
	const {db, clicks, clock} = services;
	const keys = await findSubject(services, db, organization.id, subject);
	const {id, orgKey, name} = organization;
	const {links, deliveries, ...store} = createPersonalDataStore(db, keys, clicks);
	const sections = {
		...store,
		...((await links(null, 1)).length === 0 ? {} : {links}),
		...((await deliveries(null, 1)).length === 0 ? {} : {deliveries}),
	};
	// If their store is unavailable, the answer is 503 and not a document that breaks off.
	await store.clicks(null, 1);
	const head = {exportedAt: clock.now(), organization: {id, orgKey, name}, subject: subjectJson(subject)};
	return reply({
		headers: {'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store'},
		body: Readable.from(withLoggedFault(request, 'an export of personal data', documentOf(head, sections))),
	});
};
