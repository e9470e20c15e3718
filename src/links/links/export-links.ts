import {Readable} from 'node:stream';
import type {PlanDeps} from '../../accounts/plans/entitlements.ts';
import {type Reply, type RequestFacts, reply} from '../../platform/http/route.ts';
import type {Services} from '../../services.ts';
import {type LinkOwner, type LinkRow, linkJsonWithDomain} from './link.ts';
import {ndjsonHeaders} from './link-answer.ts';
import {readReferences} from './link-references.ts';
import {createLinkStore} from './link-store.ts';

const BATCH = 500;

type Deps = PlanDeps & Pick<Services, 'addresses' | 'db'>;

async function* lines(services: Deps, organization: LinkOwner, first: LinkRow[], request: RequestFacts) {
	const {db, addresses} = services;
	const store = createLinkStore(db, organization.id);
	let batch = first;
	try {
		for (;;) {
			const references = await readReferences(services, db, organization, {links: batch});
			yield batch
				.map((link) => `${JSON.stringify(linkJsonWithDomain(addresses, organization, references.view(link)))}\n`)
				.join('');
			const last = batch.at(-1);
			if (last === undefined || batch.length < BATCH) {
				return;
			}

			batch = await store.after(last, BATCH);
		}
	} catch (error) {
		request.log().error({err: error}, 'an export ended early');
		throw error;
	}
}

/**
 * All links of the organization as NDJSON, each with its domain, oldest first. They are read in batches as the caller
 * consumes them. A server fault breaks the connection instead of ending the answer.
 */
export const exportLinks = async (
	services: Deps,
	{organization, request}: {organization: LinkOwner; request: RequestFacts},
): Promise<Reply> => {
	// Read before the answer begins: an unreachable database is a 503.
	const first = await createLinkStore(services.db, organization.id).after(null, BATCH);
	return reply({headers: ndjsonHeaders, body: Readable.from(lines(services, organization, first, request))});
};
