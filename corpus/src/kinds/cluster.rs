//! A container cluster's lists, as its command line prints them: deep rows, optional keys everywhere, labels and
//! annotations whose keys hold dots and slashes, and field-ownership trees made of keys alone.

use crate::moment::{START, utc};
use crate::rng::Rng;
use crate::words;
use crate::writer::Writer;

/// Pods: metadata, containers, conditions; ownership trees when there is room for them.
pub(crate) fn pods(rng: &mut Rng, w: &mut Writer) {
    list(w, "v1", "Pod", |w, i| {
        let app = rng.prefer(words::SERVICES);
        let (set, when) = (words::tail(rng, 10), utc(START + i as i64 * 977));
        let name = format!("{app}-{set}-{}", words::tail(rng, 5));
        let large = w.room() > 4500;
        let healthy = rng.chance(90);
        w.object_field("metadata", |w| {
            if rng.chance(40) {
                w.object_field("annotations", |w| {
                    w.field("prometheus.io/scrape", "true").field("prometheus.io/port", "9090");
                });
            }
            w.field("creationTimestamp", &when).field("generateName", format!("{app}-{set}-"));
            labels(w, app, Some(&set));
            if large && rng.chance(50) {
                w.array_field("managedFields", |w| managed(w, &when));
            }
            w.field("name", &name).field("namespace", rng.prefer(&["default", "shop", "kube-system"]));
            w.field("uid", words::uuid(rng));
        });
        w.object_field("spec", |w| {
            w.array_field("containers", |w| {
                container(rng, w, app);
                if large && rng.chance(20) {
                    container(rng, w, "proxy");
                }
            });
            w.field("nodeName", format!("node-{}", rng.below(6))).field("restartPolicy", "Always");
            if rng.chance(15) {
                w.object_field("nodeSelector", |w| {
                    w.field("topology.kubernetes.io/zone", "eu-west-1a");
                });
            }
        });
        w.object_field("status", |w| {
            w.array_field("conditions", |w| {
                for kind in &["Ready", "Initialized", "PodScheduled"][..if large { 3 } else { 1 }] {
                    w.object(|w| {
                        w.field("lastProbeTime", None::<bool>).field("lastTransitionTime", &when);
                        if !healthy && *kind == "Ready" {
                            w.field("message", format!("containers with unready status: [{app}]"));
                            w.field("reason", "ContainersNotReady");
                        }
                        w.field("status", if healthy { "True" } else { "False" }).field("type", kind);
                    });
                }
            });
            w.field("hostIP", words::address(rng)).field("phase", if healthy { "Running" } else { "Pending" });
            if healthy {
                w.field("podIP", words::address(rng)).field("startTime", &when);
            }
        });
    });
}

/// Deployments: a pod template inside each, strategies, counts that are absent when zero.
pub(crate) fn deployments(rng: &mut Rng, w: &mut Writer) {
    list(w, "apps/v1", "Deployment", |w, i| {
        let app = rng.prefer(words::SERVICES);
        let replicas = rng.between(0, 6);
        w.object_field("metadata", |w| {
            w.object_field("annotations", |w| {
                w.field("deployment.kubernetes.io/revision", rng.between(1, 40).to_string());
            });
            w.field("creationTimestamp", utc(START + i as i64 * 7200)).field("generation", rng.between(1, 90));
            labels(w, app, None);
            w.field("name", format!("{app}-{i}")).field("namespace", "shop").field("uid", words::uuid(rng));
        });
        w.object_field("spec", |w| {
            w.field("progressDeadlineSeconds", 600).field("replicas", replicas).field("revisionHistoryLimit", 10);
            w.object_field("selector", |w| {
                w.object_field("matchLabels", |w| {
                    w.field("app.kubernetes.io/name", app);
                });
            });
            w.object_field("strategy", |w| {
                w.object_field("rollingUpdate", |w| {
                    w.field("maxSurge", "25%").field("maxUnavailable", 0);
                });
                w.field("type", "RollingUpdate");
            });
            w.object_field("template", |w| {
                w.object_field("metadata", |w| labels(w, app, None));
                w.object_field("spec", |w| {
                    w.array_field("containers", |w| container(rng, w, app));
                });
            });
        });
        w.object_field("status", |w| {
            w.field("observedGeneration", 3);
            if replicas > 0 {
                w.field("availableReplicas", replicas).field("readyReplicas", replicas).field("replicas", replicas);
            }
        });
    });
}

/// Events: short rows with two nested references, a few messages that repeat often.
pub(crate) fn events(rng: &mut Rng, w: &mut Writer) {
    list(w, "v1", "Event", |w, i| {
        let app = rng.prefer(words::SERVICES);
        let pod = format!("{app}-{}", words::tail(rng, 5));
        let (kind, reason, text) = rng.prefer(&[
            ("Normal", "Pulled", "Container image \"registry.example.com/shop/app:1.4.2\" already present on machine"),
            ("Normal", "Started", "Started container app"),
            ("Warning", "BackOff", "Back-off restarting failed container"),
            ("Warning", "Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503"),
            ("Warning", "FailedScheduling", "0/6 nodes are available: 6 Insufficient memory."),
        ]);
        let when = utc(START + i as i64 * 13);
        w.field("count", 1 + rng.skewed(40)).field("eventTime", None::<bool>).field("firstTimestamp", &when);
        w.object_field("involvedObject", |w| {
            w.field("apiVersion", "v1").field("kind", "Pod").field("name", &pod).field("namespace", "shop");
            if rng.chance(70) {
                w.field("fieldPath", "spec.containers{app}");
            }
        });
        w.field("lastTimestamp", &when).field("message", text);
        w.object_field("metadata", |w| {
            w.field("name", format!("{pod}.{}", words::hex(rng, 16))).field("namespace", "shop");
        });
        w.field("reason", reason).field("reportingComponent", "").object_field("source", |w| {
            w.field("component", "kubelet").field("host", format!("node-{}", rng.below(6)));
        });
        w.field("type", kind);
    });
}

/// Config maps: files of configuration as strings, keyed by file name.
pub(crate) fn config_maps(rng: &mut Rng, w: &mut Writer) {
    list(w, "v1", "ConfigMap", |w, i| {
        let app = rng.pick(words::SERVICES);
        w.object_field("data", |w| {
            for file in &["app.yaml", "nginx.conf", ".env"][..1 + rng.below(3) as usize] {
                let lines: Vec<String> = (0..rng.between(2, 6))
                    .map(|_| format!("{}:\t{}/{}\n", rng.pick(words::NOUNS), app, rng.pick(words::ADJECTIVES)))
                    .collect();
                w.field(file, format!("# {app}\n{}", lines.concat()));
            }
        });
        w.object_field("metadata", |w| {
            w.field("name", format!("{app}-config-{i}")).field("namespace", "shop").field("uid", words::uuid(rng));
        });
    });
}

fn list(w: &mut Writer, version: &str, kind: &str, mut members: impl FnMut(&mut Writer, u64)) {
    w.object(|w| {
        w.field("apiVersion", "v1");
        w.array_field("items", |w| {
            w.rows(|w, i| {
                w.object(|w| {
                    w.field("apiVersion", version).field("kind", kind);
                    members(w, i);
                });
            });
        });
        w.field("kind", "List").object_field("metadata", |w| {
            w.field("resourceVersion", "");
        });
    });
}

fn labels(w: &mut Writer, app: &str, set: Option<&str>) {
    w.object_field("labels", |w| {
        w.field("app.kubernetes.io/name", app).field("app.kubernetes.io/part-of", "shop");
        if let Some(set) = set {
            w.field("pod-template-hash", set);
        }
    });
}

fn container(rng: &mut Rng, w: &mut Writer, app: &str) {
    w.object(|w| {
        if rng.chance(50) {
            w.array_field("env", |w| {
                for name in &["LOG_LEVEL", "REGION", "PORT"][..1 + rng.below(3) as usize] {
                    w.object(|w| {
                        w.field("name", name).field("value", rng.prefer(&["info", "eu-west-1", "8080"]));
                    });
                }
            });
        }
        w.field("image", format!("registry.example.com/shop/{app}:{}", words::version(rng)));
        w.field("imagePullPolicy", "IfNotPresent").field("name", app);
        w.object_field("resources", |w| {
            if rng.chance(60) {
                w.object_field("limits", |w| {
                    w.field("cpu", rng.prefer(&["500m", "1", "2"])).field("memory", rng.prefer(&["256Mi", "1Gi"]));
                });
            }
        });
    });
}

fn managed(w: &mut Writer, when: &str) {
    w.object(|w| {
        w.field("apiVersion", "v1").field("fieldsType", "FieldsV1").object_field("fieldsV1", |w| {
            w.object_field("f:metadata", |w| {
                w.object_field("f:labels", |w| {
                    w.object_field(".", |_| {}).object_field("f:app.kubernetes.io/name", |_| {});
                });
            });
            w.object_field("f:spec", |w| {
                w.object_field("f:containers", |w| {
                    w.object_field("k:{\"name\":\"app\"}", |w| {
                        w.object_field(".", |_| {}).object_field("f:image", |_| {}).object_field("f:resources", |_| {});
                    });
                });
            });
        });
        w.field("manager", "controller-manager").field("operation", "Update").field("time", when);
    });
}
