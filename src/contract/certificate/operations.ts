import { TokenScope } from '../../domain/account/token-scope.ts'
import {
  certificateDetails,
  certificateFilterBody,
  certificateIdentity,
  changedCertificate,
  createCertificateBody,
  replaceCertificateBody,
} from './schemas.ts'
import { detailsQuery, noParameters } from '../fields.ts'
import { explainedCertificate } from './explanation.ts'
import { DataKey, Scope, TextForm, defineOperation } from '../operation.ts'

export const createCertificates = defineOperation({
  id: 'createCertificates',
  method: 'POST',
  path: '/v1/certificates',
  scope: Scope.Create,
  tokenScopes: [TokenScope.Operate],
  withinServices: false,
  place: 'certificate creation arguments',
  body: createCertificateBody,
  query: noParameters,
  dataKey: DataKey.Certificates,
  entry: changedCertificate,
  summary: 'Upload certificates',
  description:
    'Uploads one certificate per object of the body. It is `valid` at once, is taken by domains that are created from then ' +
    'on, and is not renewed.',
})

export const getCertificates = defineOperation({
  id: 'getCertificates',
  method: 'GET',
  path: '/v1/certificates',
  localPath: '/v1/certificates/{object}',
  scope: Scope.ObjectsOrAll,
  tokenScopes: [TokenScope.Read],
  withinServices: false,
  place: 'certificate status arguments',
  body: noParameters,
  query: detailsQuery,
  paged: true,
  ordered: true,
  dataKey: DataKey.Certificates,
  entry: certificateDetails,
  summary: 'Status and properties of certificates',
  description: 'Without identifiers all certificates are returned, and their entries have no `status`.',
})

export const updateCertificates = defineOperation({
  id: 'updateCertificates',
  method: 'PUT',
  path: '/v1/certificates',
  localPath: '/v1/certificates/{object}',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Operate],
  withinServices: false,
  place: 'certificate replacement arguments',
  body: replaceCertificateBody,
  query: noParameters,
  dataKey: DataKey.Certificates,
  entry: certificateDetails,
  summary: 'Replace the contents of uploaded certificates',
  description:
    'The new chain has to be for the same domain. Domains that use the certificate have it within a second. A certificate ' +
    'that was requested is renewed by itself and can not be replaced.',
})

export const deleteCertificates = defineOperation({
  id: 'deleteCertificates',
  method: 'DELETE',
  path: '/v1/certificates',
  localPath: '/v1/certificates/{object}',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Operate],
  withinServices: false,
  place: 'certificate deletion arguments',
  body: noParameters,
  query: noParameters,
  dataKey: DataKey.Certificates,
  entry: changedCertificate,
  summary: 'Delete certificates',
  description: 'Fails while a domain of a service uses it.',
})

export const listCertificates = defineOperation({
  id: 'listCertificates',
  method: 'GET',
  path: '/v1/certificates/list',
  scope: Scope.Collection,
  tokenScopes: [TokenScope.Read],
  withinServices: false,
  place: 'certificate list filter',
  body: certificateFilterBody,
  inQuery: true,
  query: noParameters,
  paged: true,
  dataKey: DataKey.Certificates,
  entry: certificateIdentity,
  summary: 'List certificates',
  description: 'An array of objects selects certificates that match any of them.',
})

export const explainCertificates = defineOperation({
  id: 'explainCertificates',
  method: 'GET',
  path: '/v1/certificates/explain',
  localPath: '/v1/certificates/{object}/explain',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Read],
  withinServices: false,
  place: 'certificate explanation arguments',
  body: noParameters,
  query: noParameters,
  dataKey: DataKey.Certificates,
  entry: explainedCertificate,
  textForm: TextForm.Explanation,
  summary: 'Explain certificates',
  description: 'How a certificate stands, what was tried and seen, what that means and what to do.',
})
