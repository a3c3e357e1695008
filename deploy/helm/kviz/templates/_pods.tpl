{{/* The name of everything: the release's, with the chart's unless that is in it. */}}
{{- define "kviz.name" -}}
{{- if contains "kviz" .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-kviz" .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "kviz.labels" -}}
{{ include "kviz.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "kviz.selector" -}}
app.kubernetes.io/name: kviz
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "kviz.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{- define "kviz.secret" -}}
{{ .Values.existingSecret | default (include "kviz.name" .) }}
{{- end -}}

{{/* What the chart cannot do without; said at once instead of by a pod that does not start. */}}
{{- define "kviz.secretData" -}}
{{- if .Values.sqlite.enabled }}
{{- with .Values.secretKey }}
secret-key: {{ b64enc . }}
{{- end }}
{{- else }}
{{- $missing := "is needed, or existingSecret with the keys secret-key, database-url and redis-url, or sqlite.enabled" -}}
secret-key: {{ required (printf "secretKey %s" $missing) .Values.secretKey | b64enc }}
database-url: {{ required (printf "databaseUrl %s" $missing) .Values.databaseUrl | b64enc }}
redis-url: {{ required (printf "redisUrl %s" $missing) .Values.redisUrl | b64enc }}
{{- end }}
{{- with .Values.brokerUrl }}
broker-url: {{ b64enc . }}
{{- end }}
{{- with .Values.metricsToken }}
metrics-token: {{ b64enc . }}
{{- end }}
{{- with .Values.oidcClientSecret }}
oidc-client-secret: {{ b64enc . }}
{{- end }}
{{- end -}}

{{/* Settings; takes the context and the name of the Secret. */}}
{{- define "kviz.env" -}}
{{- $context := index . 0 -}}
{{- $secret := index . 1 -}}
- name: KVIZ_MODE
  value: server
- name: KVIZ_ALLOWED_HOSTS
  value: {{ required "hosts is needed: the names under which browsers reach kviz" (join "," $context.Values.hosts) | quote }}
- name: KVIZ_TLS
  value: {{ ternary "yes" "no" $context.Values.tls | quote }}
- name: KVIZ_TRUSTED_PROXIES
  value: {{ $context.Values.trustedProxies | quote }}
{{- $needed := dict "KVIZ_SECRET_KEY" "secret-key" "KVIZ_DATABASE_URL" "database-url" "KVIZ_REDIS_URL" "redis-url" }}
{{- $optional := dict "KVIZ_CELERY_BROKER_URL" "broker-url" "KVIZ_METRICS_TOKEN" "metrics-token" }}
{{- if $context.Values.sqlite.enabled }}
{{- $needed = dict }}
{{- $optional = dict "KVIZ_SECRET_KEY" "secret-key" "KVIZ_METRICS_TOKEN" "metrics-token" }}
{{- end }}
{{- range $variable, $key := merge (dict) $needed $optional }}
{{- if not (hasKey $context.Values.settings $variable) }}
- name: {{ $variable }}
  valueFrom:
    secretKeyRef:
      name: {{ $secret }}
      key: {{ $key }}
      {{- if hasKey $optional $variable }}
      optional: true
      {{- end }}
{{- end }}
{{- end }}
{{- if hasKey $context.Values.settings "KVIZ_OIDC_ISSUER" }}
- name: KVIZ_OIDC_CLIENT_SECRET
  valueFrom:
    secretKeyRef:
      name: {{ $secret }}
      key: oidc-client-secret
{{- end }}
{{- range $variable, $value := $context.Values.settings }}
- name: {{ $variable }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}

{{- define "kviz.readerEnv" -}}
{{- if .Values.reader.enabled }}
- name: KVIZ_CLUSTERS_FILE
  value: /etc/kviz/clusters.yaml
{{- end }}
{{- end -}}

{{/* Nobody in particular, no rights beyond that, a root file system nobody writes to. */}}
{{- define "kviz.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "kviz.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "kviz.mounts" -}}
- name: data
  mountPath: /data
- name: tmp
  mountPath: /tmp
{{- end -}}

{{/* Takes the context and how much may be written to /tmp. */}}
{{- define "kviz.volumes" -}}
{{- $context := index . 0 -}}
- name: data
{{- if $context.Values.sqlite.enabled }}
  persistentVolumeClaim:
    claimName: {{ $context.Values.sqlite.existingClaim | default (printf "%s-data" (include "kviz.name" $context)) }}
{{- else }}
  emptyDir:
    sizeLimit: 64Mi
{{- end }}
- name: tmp
  emptyDir:
    sizeLimit: {{ index . 1 }}
{{- end -}}

{{/* Who serves reads clusters; workers have what was read from the database, and no token. */}}
{{- define "kviz.readerMount" -}}
{{- if .Values.reader.enabled }}
- name: clusters
  mountPath: /etc/kviz
  readOnly: true
{{- end }}
{{- end -}}

{{- define "kviz.readerVolume" -}}
{{- if .Values.reader.enabled }}
- name: clusters
  configMap:
    name: {{ include "kviz.name" . }}-clusters
{{- end }}
{{- end -}}

{{- define "kviz.placement" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
