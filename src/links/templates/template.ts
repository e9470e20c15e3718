import Joi from 'joi';
import type {InputFields, SharedName, ShownFields} from '../links/link-fields.ts';
import {linkFieldSchemas, sharedFieldSchemas} from '../links/link-schemas.ts';
import {type ClientCreate, clientCreateSchema} from './client-create.ts';

/** A template in the API: defaults for fields that its links omit (contract/links 4). */
export type Template = {id: string; name: string} & ShownFields<SharedName> & {
		/** Absent: apps create no links of it. */
		clientCreate?: ClientCreate;
		createdAt: Date;
		updatedAt: Date;
	};

export type TemplateInput = InputFields<SharedName> & {name: string; clientCreate?: ClientCreate | null};

const name = Joi.string().trim().max(255);
const fields = {
	...sharedFieldSchemas,
	path: linkFieldSchemas.path.allow(null),
	clientCreate: clientCreateSchema.allow(null),
};

export const newTemplate = Joi.object<TemplateInput>({name: name.required(), ...fields});
/** Null clears a field; a template always has a name. */
export const templateChanges = Joi.object<Partial<TemplateInput>>({name, ...fields});
