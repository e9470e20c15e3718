import Joi from 'joi';
import {type SharedFields, type SharedFieldsInput, sharedFieldSchemas} from '../links/link-fields.ts';
import {type ClientCreate, clientCreateSchema} from './client-create.ts';

/** A template in the API: defaults for fields that its links omit (contract/links 4). */
export type Template = {id: string; name: string} & SharedFields & {
		/** Absent: apps create no links of it. */
		clientCreate?: ClientCreate;
		createdAt: Date;
		updatedAt: Date;
	};

export type TemplateInput = SharedFieldsInput & {name: string; clientCreate?: ClientCreate | null};

const name = Joi.string().trim().max(255);
const fields = {
	...sharedFieldSchemas,
	path: sharedFieldSchemas.path.allow(null),
	clientCreate: clientCreateSchema.allow(null),
};

export const newTemplate = Joi.object<TemplateInput>({name: name.required(), ...fields});
/** Null clears a field; a template always has a name. */
export const templateChanges = Joi.object<Partial<TemplateInput>>({name, ...fields});
