import {randomUUID} from 'node:crypto';
import Joi from 'joi';
import type {Db} from '../../platform/db/db.ts';
import {readConfigFile} from '../../platform/package-root.ts';

const seedSchema = Joi.array().items(Joi.string().max(50)).unique().required();

/** The channels that a new organization has (contract/links 5). */
export const seededChannels = () => Joi.attempt(readConfigFile('channels.json'), seedSchema) as string[];

/** Gives a new organization its channels. */
export const seedChannels = async (trx: Db, organizationId: string, now: Date): Promise<void> => {
	const names = seededChannels();
	if (names.length > 0) {
		await trx('channels').insert(
			names.map((name) => ({id: randomUUID(), organization_id: organizationId, name, created_at: now})),
		);
	}
};
