import {randomUUID} from 'node:crypto';
import {type Db, onlyRow, translateViolation} from '../../platform/db/db.ts';
import {descending, type Page, type PageQuery, readPage} from '../../platform/db/read-page.ts';
import {organizationNotFound, templateInUse, templateNameTaken} from '../../platform/errors.ts';
import {inputColumns, platformColumns, sharedFieldsOf} from '../links/link-columns.ts';
import type {LinkColumns, SharedName} from '../links/link-fields.ts';
import type {ClientCreate} from './client-create.ts';
import type {Template, TemplateInput} from './template.ts';

type Row = LinkColumns<SharedName> & {
	id: string;
	name: string;
	client_create: ClientCreate | null;
	created_at: Date;
	updated_at: Date;
};

const toTemplate = (row: Row): Template => ({
	id: row.id,
	name: row.name,
	...sharedFieldsOf(row),
	...(row.client_create === null ? {} : {clientCreate: row.client_create}),
	createdAt: row.created_at,
	updatedAt: row.updated_at,
});

const firstTemplate = ([row]: Row[]): Template | null => (row === undefined ? null : toTemplate(row));

const nameTaken =
	(name = '') =>
	(error: unknown) => {
		throw translateViolation(error, {
			templates_organization_id_name_key: () => templateNameTaken(name),
			templates_organization_id_fkey: organizationNotFound,
		});
	};

/** The statements on one organization's templates, over a pool or a transaction. */
export const createTemplateStore = (db: Db, organizationId: string) => {
	const own = {organization_id: organizationId};
	const one = (id: string) => db('templates').where({...own, id});

	return {
		list: (page: PageQuery): Promise<Page<Template>> =>
			readPage(db('templates').where(own), page, descending('created_at', 'id'), toTemplate),

		find: async (id: string): Promise<Template | null> => firstTemplate(await one(id)),

		/** As `find`; no link is given the template, and none takes a path from it, until the transaction ends. */
		lock: async (id: string): Promise<Template | null> => firstTemplate(await one(id).forUpdate()),

		/** @throws 409 if the organization has a template of that name. */
		insert: async (template: TemplateInput, now: Date): Promise<Template> => {
			const added = {...own, id: randomUUID(), created_at: now, updated_at: now};
			const rows: Row[] = await db('templates')
				.insert({...inputColumns(template, null), ...added})
				.returning('*')
				.catch(nameTaken(template.name));
			return toTemplate(onlyRow(rows));
		},

		/** @throws 409 if the organization has a template of that name. */
		update: async (before: Template, changes: Partial<TemplateInput>, now: Date): Promise<Template> => {
			const rows: Row[] = await one(before.id)
				.update({...inputColumns(changes, platformColumns(before)), updated_at: now})
				.returning('*')
				.catch(nameTaken(changes.name));
			return toTemplate(onlyRow(rows));
		},

		/** Whether links have their path from the template alone. */
		givesPath: async (id: string): Promise<boolean> => {
			const links = db('links').where({...own, template_id: id});
			return (await links.whereNull('path').first('id')) !== undefined;
		},

		/** @returns the removed template; null if there was none. @throws 409 while links use it. */
		remove: async (id: string): Promise<Template | null> => {
			const removed = one(id).delete().returning('*');
			return firstTemplate(
				await removed.catch((error: unknown) => {
					throw translateViolation(error, {links_template_id_fkey: templateInUse});
				}),
			);
		},
	};
};
